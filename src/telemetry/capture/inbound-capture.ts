import type { Call, Cancel, Layer, Loss, Maybe } from "../../envelope/index.js";
import { around } from "../../policies/index.js";
import type { Exchange, HttpRequest } from "../../transport/exchange.js";
import type { BodyCapture } from "./body-capture.js";
import type { CaptureContext } from "./capture-context.js";
import { CapturedCall, envelopeOf, quietly } from "./captured-call.js";
import { captureRequest, captureResponse, type ExchangeObserver, whenAnswered } from "./observed-exchange.js";
import { traceparentOf } from "./spans.js";

/** A request that has become a call, or several; they share its bytes. */
class Visit implements ExchangeObserver {
  readonly request: HttpRequest;
  readonly #calls: CapturedCall[] = [];
  #response: Maybe<BodyCapture>;

  constructor(request: HttpRequest) {
    this.request = request;
  }

  join(call: CapturedCall, request: BodyCapture): void {
    this.#calls.push(call);
    call.sent(request);
    if (this.#response !== undefined) call.answered(this.#response);
  }

  answered(response: BodyCapture): void {
    this.#response = response;
    for (const call of this.#calls) call.answered(response);
  }

  grew(): void {
    for (const call of this.#calls) call.grew();
  }

  lost(loss: Loss): void {
    for (const call of this.#calls) call.lost(loss);
  }
}

/** Somebody calls us: the request and the response at the door, the call behind it. */
export class InboundCapture {
  readonly #desk: CaptureContext;
  readonly #byRequest = new WeakMap<HttpRequest, Visit>();
  /** A protocol may derive the call it began; its cancel stays that of the request. */
  readonly #byCancel = new WeakMap<Cancel, Visit>();
  readonly layer: Layer;

  constructor(desk: CaptureContext) {
    this.#desk = desk;
    this.layer = around<CapturedCall>({
      begin: (operation, call) => {
        const visit = this.#byCancel.get(call.cancel);
        const envelope = envelopeOf(operation);
        // Not every protocol hands the header on.
        const traceparent = call.parameters["traceparent"] ?? visit?.request.headers["traceparent"];
        const place = desk.spans.incoming(envelope, traceparent);
        const { agent, via, caller } = call;
        const watched = new CapturedCall(desk, { direction: "in", operation, place, agent, caller: caller.id, via });
        if (visit !== undefined) quietly(() => visit.join(watched, captureRequest(visit.request, desk.limits.bodyBytes)));
        return watched;
      },
      under: (watched, call) =>
        call.derive({
          parameters: { ...call.parameters, traceparent: traceparentOf(watched.place) },
          lose: (loss) => {
            watched.lost(loss);
            call.reportLoss(loss);
          },
        }),
      event: (watched, event) => watched.event(event),
      end: (watched, outcome) => watched.end(outcome),
    });
  }

  exchange(exchange: Exchange): Exchange {
    return (request) =>
      whenAnswered(exchange(request), (response) => {
        const visit = this.#byRequest.get(request);
        return visit === undefined ? response : captureResponse(response, this.#desk.limits.bodyBytes, visit);
      });
  }

  callStarted(request: HttpRequest, call: Call): void {
    const visit = this.#byRequest.get(request) ?? new Visit(request);
    this.#byRequest.set(request, visit);
    this.#byCancel.set(call.cancel, visit);
  }

  lost(request: HttpRequest, loss: Loss): void {
    this.#byRequest.get(request)?.lost(loss);
  }
}
