import type { Call, Cancel, Layer, Via } from "../../envelope/index.js";
import { around, type LinkedCancel, linkedCancel } from "../../policies/index.js";
import type { Exchange, Link } from "../../transport/exchange.js";
import type { Edge } from "../edge.js";
import type { CaptureContext } from "./capture-context.js";
import { CapturedCall, envelopeOf, ignoreErrors } from "./captured-call.js";
import { captureRequest, captureResponse, onResponse } from "./observed-exchange.js";
import { traceparentOf } from "./spans.js";

interface CapturedAttempt {
  readonly captured: CapturedCall;
  /** Identifies the attempt on the link. */
  readonly cancel: Cancel;
  readonly linked: LinkedCancel | undefined;
}

/** Captures outgoing calls: every attempt, and its exchange on the link. */
export class OutboundCapture {
  readonly #context: CaptureContext;
  /** The layer and the link share only the cancel, which a protocol client passes on with its requests. */
  readonly #byCancel = new WeakMap<Cancel, CapturedCall>();

  constructor(context: CaptureContext) {
    this.#context = context;
  }

  layer(edge: Edge, via: Via = { protocol: edge.protocol, version: "", binding: "" }): Layer {
    const context = this.#context;
    return around<CapturedAttempt>({
      begin: (operation, call) => {
        const position = context.spans.outgoing(envelopeOf(operation), call.parameters["traceparent"]);
        const { dstId: agent, srcAgent: caller } = edge;
        const captured = new CapturedCall(context, { direction: "out", operation, position, agent, caller, via });
        // Two attempts may share a cancel; a new one is needed only then.
        const linked = this.#byCancel.has(call.cancel) ? linkedCancel(call.cancel) : undefined;
        const cancel = linked?.source ?? call.cancel;
        this.#byCancel.set(cancel, captured);
        return { captured, cancel, linked };
      },
      under: ({ captured, cancel }, call) => withCapture(call, captured, cancel),
      event: ({ captured }, event) => captured.event(event),
      end: ({ captured, cancel, linked }, outcome) => {
        linked?.unlink();
        this.#byCancel.delete(cancel);
        captured.end(outcome);
      },
    });
  }

  link(link: Link): Link {
    const { bodyBytes } = this.#context.limits;
    const exchange: Exchange = (request) => {
      const captured = this.#byCancel.get(request.cancel);
      if (captured?.wantsRequest(request.body) !== true) return link.exchange(request);
      ignoreErrors(() => captured.requestSent(captureRequest(request, bodyBytes)));
      return onResponse(link.exchange(request), (response) => captureResponse(response, bodyBytes, captured));
    };
    return { ...link, exchange, close: () => link.close() };
  }
}

function withCapture(call: Call, captured: CapturedCall, cancel: Cancel): Call {
  return call.derive({
    parameters: { ...call.parameters, traceparent: traceparentOf(captured.position) },
    cancel,
    reportLoss: (loss) => {
      captured.addLoss(loss);
      call.reportLoss(loss);
    },
  });
}
