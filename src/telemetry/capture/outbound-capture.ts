import type { Call, Cancel, Layer, Via } from "../../envelope/index.js";
import { around, type LinkedCancel, linkedCancel } from "../../policies/index.js";
import type { Exchange, Link } from "../../transport/exchange.js";
import type { Edge } from "../edge.js";
import type { CaptureContext } from "./capture-context.js";
import { CapturedCall, envelopeOf, quietly } from "./captured-call.js";
import { captureRequest, captureResponse, whenAnswered } from "./observed-exchange.js";
import { traceparentOf } from "./spans.js";

interface Tried {
  readonly watched: CapturedCall;
  /** By which the link knows the try. */
  readonly cancel: Cancel;
  readonly linked: LinkedCancel | undefined;
}

/** We call a peer: every try of a call, and the request and the response on its link. */
export class OutboundCapture {
  readonly #desk: CaptureContext;
  /** The layer and the link share nothing but the cancel, which a client half hands on with its requests. */
  readonly #byCancel = new WeakMap<Cancel, CapturedCall>();

  constructor(desk: CaptureContext) {
    this.#desk = desk;
  }

  layer(edge: Edge, via: Via = { protocol: edge.protocol, version: "", binding: "" }): Layer {
    const desk = this.#desk;
    return around<Tried>({
      begin: (operation, call) => {
        const place = desk.spans.outgoing(envelopeOf(operation), call.parameters["traceparent"]);
        const { dstId: agent, srcAgent: caller } = edge;
        const watched = new CapturedCall(desk, { direction: "out", operation, place, agent, caller, via });
        // Two tries may share a cancel; only then a new one is needed to tell them apart.
        const linked = this.#byCancel.has(call.cancel) ? linkedCancel(call.cancel) : undefined;
        const cancel = linked?.source ?? call.cancel;
        this.#byCancel.set(cancel, watched);
        return { watched, cancel, linked };
      },
      under: ({ watched, cancel }, call) => continued(call, watched, cancel),
      event: ({ watched }, event) => watched.event(event),
      end: ({ watched, cancel, linked }, outcome) => {
        linked?.unlink();
        this.#byCancel.delete(cancel);
        watched.end(outcome);
      },
    });
  }

  link(link: Link): Link {
    const { bodyBytes } = this.#desk.limits;
    const exchange: Exchange = (request) => {
      const watched = this.#byCancel.get(request.cancel);
      if (watched?.wantsRequest(request.body) !== true) return link.exchange(request);
      quietly(() => watched.sent(captureRequest(request, bodyBytes)));
      return whenAnswered(link.exchange(request), (response) => captureResponse(response, bodyBytes, watched));
    };
    return { ...link, exchange, close: () => link.close() };
  }
}

function continued(call: Call, watched: CapturedCall, cancel: Cancel): Call {
  return call.derive({
    parameters: { ...call.parameters, traceparent: traceparentOf(watched.place) },
    cancel,
    lose: (loss) => {
      watched.lost(loss);
      call.reportLoss(loss);
    },
  });
}
