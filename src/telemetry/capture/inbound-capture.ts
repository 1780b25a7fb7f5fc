import { type Call, CallSlot, type Layer, type Loss, type Maybe } from "../../envelope/index.js";
import { around } from "../../policies/index.js";
import type { Exchange, HttpRequest, Session, SessionMessage } from "../../transport/exchange.js";
import type { CaptureContext } from "./capture-context.js";
import { CapturedCall, envelopeOf, ignoreErrors } from "./captured-call.js";
import { type CapturedExchange, CapturedHttpExchange, CapturedSessionExchange } from "./captured-exchange.js";
import { captureResponse, onResponse } from "./observed-exchange.js";
import { traceparentOf } from "./spans.js";

/** Captures incoming calls: the HTTP exchange, or the messages of a session, and the call made from it. */
export class InboundCapture {
  readonly #context: CaptureContext;
  readonly #exchanges = new CallSlot<CapturedExchange>();
  readonly layer: Layer;

  constructor(context: CaptureContext) {
    this.#context = context;
    this.layer = around<CapturedCall>({
      begin: (operation, call) => {
        const captured = this.#exchanges.of(call);
        const envelope = envelopeOf(operation);
        const position = context.spans.incoming(envelope, call.parameters["traceparent"], captured?.traceparent);
        const { agent, via, caller } = call;
        const capturedCall = new CapturedCall(context, { direction: "in", operation, position, agent, caller: caller.id, via });
        if (captured !== undefined) ignoreErrors(() => captured.addCall(capturedCall));
        return capturedCall;
      },
      under: (capturedCall, call) =>
        call.derive({ parameters: { ...call.parameters, traceparent: traceparentOf(capturedCall.position) } }),
      event: (capturedCall, event) => capturedCall.event(event),
      end: (capturedCall, outcome) => capturedCall.end(outcome),
    });
  }

  exchange(exchange: Exchange): Exchange {
    return (request) =>
      onResponse(exchange(request), (response) => {
        const captured = this.#exchanges.of(request.call);
        return captured === undefined ? response : captureResponse(response, this.#context.limits.bodyBytes, captured);
      });
  }

  callStarted(from: HttpRequest | SessionMessage, call: Call): void {
    const { bodyBytes } = this.#context.limits;
    if ("session" in from) this.#exchanges.put(call, new CapturedSessionExchange(from.session.request, bodyBytes));
    // The calls of a batch share one exchange: the request has the first of them.
    else this.#exchanges.put(call, this.#exchanges.of(from.call) ?? new CapturedHttpExchange(from, bodyBytes));
  }

  session(session: Session): void {
    session.tap({
      assigned: (frame, call) => this.#inSession(call, (exchange) => exchange.addRequest(frame)),
      sent: (frame, _bytes, call) => this.#inSession(call, (exchange) => exchange.addResponse(frame)),
    });
  }

  #inSession(call: Maybe<Call>, add: (exchange: CapturedSessionExchange) => void): void {
    const exchange = this.#exchanges.of(call);
    if (exchange instanceof CapturedSessionExchange) ignoreErrors(() => add(exchange));
  }

  lossReported(loss: Loss, call: Call): void {
    this.#exchanges.of(call)?.lossReported(loss);
  }
}
