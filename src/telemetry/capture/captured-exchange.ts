import type { Loss, Maybe } from "../../envelope/index.js";
import type { Chunk, HttpRequest, RequestHead, SessionSeal } from "../../transport/exchange.js";
import type { WireCapture } from "./body-capture.js";
import type { CapturedCall } from "./captured-call.js";
import { MessageCapture } from "./message-capture.js";
import { captureRequest, type ExchangeObserver } from "./observed-exchange.js";
import { SealedCapture } from "./sealed-capture.js";
import { requestHead } from "./secrets.js";

/** Losses of a decoder are reported before its call is captured; as many wait as a captured message keeps. */
const EARLY_LOSSES = 100;

/** What was received and sent for one or more calls, which share its bytes. Nothing is captured before there is such a call. */
export abstract class CapturedExchange implements ExchangeObserver {
  readonly #calls: CapturedCall[] = [];
  readonly #earlyLosses: Loss[] = [];
  #response: Maybe<WireCapture>;
  /** The trace that the request continues, if its protocol does not pass it on. */
  abstract readonly traceparent: Maybe<string>;

  protected abstract captureRequest(): WireCapture;

  addCall(call: CapturedCall): void {
    this.#calls.push(call);
    for (const loss of this.#earlyLosses.splice(0)) call.addLoss(loss);
    call.requestSent(this.captureRequest());
    if (this.#response !== undefined) call.responseStarted(this.#response);
  }

  responseStarted(response: WireCapture): void {
    this.#response = response;
    for (const call of this.#calls) call.responseStarted(response);
  }

  bodyProgressed(): void {
    for (const call of this.#calls) call.bodyProgressed();
  }

  lossReported(loss: Loss): void {
    if (this.#calls.length === 0 && this.#earlyLosses.length < EARLY_LOSSES) this.#earlyLosses.push(loss);
    for (const call of this.#calls) call.addLoss(loss);
  }
}

/** An HTTP request and its response. The calls of a batch share one. */
export class CapturedHttpExchange extends CapturedExchange {
  readonly #request: HttpRequest;
  readonly #limit: number;

  constructor(request: HttpRequest, limit: number) {
    super();
    this.#request = request;
    this.#limit = limit;
  }

  get traceparent(): Maybe<string> {
    return this.#request.headers["traceparent"];
  }

  protected captureRequest(): WireCapture {
    return captureRequest(this.#request, this.#limit);
  }
}

/** Who sealed the messages of one call: of the request and of the response. */
export interface SealedBy {
  readonly request: string;
  readonly response: string;
}

/** Of calls that the peer makes, and of those that are made to it. */
export const sealedByCaller = ({ own, peer }: SessionSeal): SealedBy => ({ request: peer, response: own });
export const sealedForPeer = ({ own, peer }: SessionSeal): SealedBy => ({ request: own, response: peer });

type FrameCapture = MessageCapture | SealedCapture;

/** The messages of one call in a session, which carries many calls at a time. */
export class CapturedSessionExchange extends CapturedExchange {
  readonly #limit: number;
  readonly #sealed: Maybe<SealedBy>;
  readonly #request: FrameCapture;
  #response: Maybe<FrameCapture>;
  /** The upgrade request continues the trace of the opening and not those of the calls. */
  readonly traceparent = undefined;

  constructor({ path, query }: RequestHead, limit: number, sealed: Maybe<SealedBy>) {
    super();
    this.#limit = limit;
    this.#sealed = sealed;
    this.#request = this.#capture(requestHead("WS", path, query), sealed?.request);
  }

  /** A message of the caller. */
  addRequest(frame: Chunk): void {
    this.#request.add(frame);
    this.bodyProgressed();
  }

  /** A message to the caller. */
  addResponse(frame: Chunk): void {
    if (this.#response === undefined) {
      this.#response = this.#capture("message", this.#sealed?.response);
      this.responseStarted(this.#response);
    }
    this.#response.add(frame);
    this.bodyProgressed();
  }

  protected captureRequest(): WireCapture {
    return this.#request;
  }

  #capture(head: string, signer: Maybe<string>): FrameCapture {
    return signer === undefined ? new MessageCapture(head, this.#limit) : new SealedCapture(head, this.#limit, signer);
  }
}
