import { type Call, CallSlot, type Layer, type Maybe, type Via } from "../../envelope/index.js";
import { around } from "../../policies/index.js";
import type { Chunk, Exchange, Link, RequestHead, SessionTap } from "../../transport/exchange.js";
import type { Edge } from "../edge.js";
import type { CaptureContext } from "./capture-context.js";
import { CapturedCall, envelopeOf, ignoreErrors } from "./captured-call.js";
import { CapturedSessionExchange, type SealedBy, sealedForPeer } from "./captured-exchange.js";
import { captureRequest, captureResponse, onResponse } from "./observed-exchange.js";
import { traceparentOf } from "./spans.js";

/** One attempt, with its messages if it uses a session. */
interface CapturedAttempt {
  readonly captured: CapturedCall;
  exchange: Maybe<CapturedSessionExchange>;
}

/** Captures outgoing calls: every attempt, and its exchange on the link. */
export class OutboundCapture {
  readonly #context: CaptureContext;
  readonly #attempts = new CallSlot<CapturedAttempt>();

  constructor(context: CaptureContext) {
    this.#context = context;
  }

  layer(edge: Edge, via: Via = { protocol: edge.protocol, version: "", binding: "" }): Layer {
    const context = this.#context;
    return around<CapturedCall>({
      begin: (operation, call) => {
        const position = context.spans.outgoing(envelopeOf(operation), call.parameters["traceparent"]);
        const { dstId: agent, srcAgent: caller } = edge;
        return new CapturedCall(context, { direction: "out", operation, position, agent, caller, via });
      },
      under: (captured, call) => {
        const attempt = withCapture(call, captured);
        this.#attempts.put(attempt, { captured, exchange: undefined });
        return attempt;
      },
      event: (captured, event) => captured.event(event),
      end: (captured, outcome) => captured.end(outcome),
    });
  }

  link(link: Link): Link {
    const { bodyBytes } = this.#context.limits;
    const exchange: Exchange = (request) => {
      const captured = this.#attempts.of(request.call)?.captured;
      if (captured?.wantsRequest(request.body.length) !== true) return link.exchange(request);
      const { signer } = request;
      if (signer?.did !== undefined) captured.signedBy({ request: signer.did, response: signer.verify && signer.peerDid });
      ignoreErrors(() => captured.requestSent(captureRequest(request, bodyBytes)));
      return onResponse(link.exchange(request), (response) => captureResponse(response, bodyBytes, captured));
    };
    const captured = { exchange, close: () => link.close() };
    const open = link.open?.bind(link);
    if (open === undefined) return captured;
    return {
      ...captured,
      open: async (request, subprotocols) => {
        const session = await open(request, subprotocols);
        session.tap(this.#tapOf(session.request));
        return session;
      },
    };
  }

  #tapOf(upgrade: RequestHead): SessionTap {
    let sealed: Maybe<SealedBy>;
    return {
      sealed: (seal) => {
        sealed = sealedForPeer(seal);
      },
      sent: (frame, bytes, call) => ignoreErrors(() => this.#exchangeOf(call, bytes, upgrade, sealed)?.addRequest(frame)),
      assigned: (frame: Chunk, call: Call) => ignoreErrors(() => this.#attempts.of(call)?.exchange?.addResponse(frame)),
    };
  }

  /** Undefined if the attempt has made a request by HTTP: its first request is kept. */
  #exchangeOf(call: Maybe<Call>, bytes: number, upgrade: RequestHead, sealed: Maybe<SealedBy>): Maybe<CapturedSessionExchange> {
    const attempt = this.#attempts.of(call);
    if (attempt === undefined || attempt.exchange !== undefined) return attempt?.exchange;
    if (!attempt.captured.wantsRequest(bytes)) return undefined;
    attempt.exchange = new CapturedSessionExchange(upgrade, this.#context.limits.bodyBytes, sealed);
    attempt.exchange.addCall(attempt.captured);
    return attempt.exchange;
  }
}

function withCapture(call: Call, captured: CapturedCall): Call {
  return call.derive({
    parameters: { ...call.parameters, traceparent: traceparentOf(captured.position) },
    reportLoss: (loss) => {
      captured.addLoss(loss);
      call.reportLoss(loss);
    },
  });
}
