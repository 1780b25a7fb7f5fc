import type { Call, Cancel, Layer, Loss, Maybe } from "../../envelope/index.js";
import { around } from "../../policies/index.js";
import type { Exchange, HttpRequest } from "../../transport/exchange.js";
import type { BodyCapture } from "./body-capture.js";
import type { CaptureContext } from "./capture-context.js";
import { CapturedCall, envelopeOf, ignoreErrors } from "./captured-call.js";
import { captureRequest, captureResponse, type ExchangeObserver, onResponse } from "./observed-exchange.js";
import { traceparentOf } from "./spans.js";

/** A request and the calls made from it; they share its bytes. */
class CapturedExchange implements ExchangeObserver {
  readonly request: HttpRequest;
  readonly #calls: CapturedCall[] = [];
  #response: Maybe<BodyCapture>;

  constructor(request: HttpRequest) {
    this.request = request;
  }

  addCall(call: CapturedCall, request: BodyCapture): void {
    this.#calls.push(call);
    call.requestSent(request);
    if (this.#response !== undefined) call.responseStarted(this.#response);
  }

  responseStarted(response: BodyCapture): void {
    this.#response = response;
    for (const call of this.#calls) call.responseStarted(response);
  }

  bodyProgressed(): void {
    for (const call of this.#calls) call.bodyProgressed();
  }

  lossReported(loss: Loss): void {
    for (const call of this.#calls) call.addLoss(loss);
  }
}

/** Captures incoming calls: the HTTP exchange and the call made from it. */
export class InboundCapture {
  readonly #context: CaptureContext;
  readonly #byRequest = new WeakMap<HttpRequest, CapturedExchange>();
  /** A protocol may derive another call; it keeps the cancel of the request. */
  readonly #byCancel = new WeakMap<Cancel, CapturedExchange>();
  readonly layer: Layer;

  constructor(context: CaptureContext) {
    this.#context = context;
    this.layer = around<CapturedCall>({
      begin: (operation, call) => {
        const captured = this.#byCancel.get(call.cancel);
        const envelope = envelopeOf(operation);
        // Not every protocol passes the header on.
        const traceparent = call.parameters["traceparent"] ?? captured?.request.headers["traceparent"];
        const position = context.spans.incoming(envelope, traceparent);
        const { agent, via, caller } = call;
        const capturedCall = new CapturedCall(context, { direction: "in", operation, position, agent, caller: caller.id, via });
        if (captured !== undefined)
          ignoreErrors(() => captured.addCall(capturedCall, captureRequest(captured.request, context.limits.bodyBytes)));
        return capturedCall;
      },
      under: (capturedCall, call) =>
        call.derive({
          parameters: { ...call.parameters, traceparent: traceparentOf(capturedCall.position) },
          reportLoss: (loss) => {
            capturedCall.addLoss(loss);
            call.reportLoss(loss);
          },
        }),
      event: (capturedCall, event) => capturedCall.event(event),
      end: (capturedCall, outcome) => capturedCall.end(outcome),
    });
  }

  exchange(exchange: Exchange): Exchange {
    return (request) =>
      onResponse(exchange(request), (response) => {
        const captured = this.#byRequest.get(request);
        return captured === undefined ? response : captureResponse(response, this.#context.limits.bodyBytes, captured);
      });
  }

  callStarted(request: HttpRequest, call: Call): void {
    const captured = this.#byRequest.get(request) ?? new CapturedExchange(request);
    this.#byRequest.set(request, captured);
    this.#byCancel.set(call.cancel, captured);
  }

  lossReported(request: HttpRequest, loss: Loss): void {
    this.#byRequest.get(request)?.lossReported(loss);
  }
}
