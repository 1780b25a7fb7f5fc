import { type Call, CallSlot, type Layer, type Loss, type Maybe } from "../../envelope/index.js";
import { around } from "../../policies/index.js";
import type { Exchange, HttpRequest, Session, SessionMessage, SessionSeal } from "../../transport/exchange.js";
import type { CaptureContext } from "./capture-context.js";
import { CapturedCall, envelopeOf, ignoreErrors } from "./captured-call.js";
import { type CapturedExchange, CapturedHttpExchange, CapturedSessionExchange, sealedByCaller } from "./captured-exchange.js";
import { captureResponse, onResponse } from "./observed-exchange.js";
import { traceparentOf } from "./spans.js";

/** Captures incoming calls: the HTTP exchange, or the messages of a session, and the call made from it. */
export class InboundCapture {
  readonly #context: CaptureContext;
  readonly #exchanges = new CallSlot<CapturedExchange>();
  /** Sessions whose messages are sealed. */
  readonly #seals = new WeakMap<Session, SessionSeal>();
  readonly layer: Layer;

  constructor(context: CaptureContext) {
    this.#context = context;
    this.layer = around<CapturedCall>({
      begin: (operation, call) => {
        const captured = this.#exchanges.of(call);
        const envelope = envelopeOf(operation);
        const position = context.spans.incoming(envelope, call.parameters["traceparent"], captured?.traceparent);
        const { agent, via, caller } = call;
        const signer = caller.scheme === "did" ? caller.id : undefined;
        const facts = { operation, position, agent, caller: caller.id, signer, via };
        const capturedCall = new CapturedCall(context, { direction: "in", ...facts });
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
    if ("session" in from) {
      const seal = this.#seals.get(from.session);
      const exchange = new CapturedSessionExchange(from.session.request, bodyBytes, seal && sealedByCaller(seal));
      this.#exchanges.put(call, exchange);
    }
    // The calls of a batch share one exchange: the request has the first of them.
    else this.#exchanges.put(call, this.#exchanges.of(from.call) ?? new CapturedHttpExchange(from, bodyBytes));
  }

  session(session: Session): void {
    session.tap({
      sealed: (seal) => void this.#seals.set(session, seal),
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
