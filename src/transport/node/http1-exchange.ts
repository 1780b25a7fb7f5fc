import type { IncomingMessage, ServerResponse } from "node:http";
import { ByteCollector } from "../body.js";
import { type HttpResponse, isStream } from "../exchange.js";
import { refusePipelined } from "../refusal.js";
import { type ExchangeContext, HttpExchange } from "./http-exchange.js";
import { Http1ResponseWriter } from "./http1-response-writer.js";
import { type Address, IncomingRequest } from "./incoming-request.js";
import { type LiveExchange, track, untrack } from "./live-exchanges.js";
import { refuseEarly } from "./refuse-early.js";
import type { ResponseWriter } from "./response-writer.js";
import { watchFlush } from "./watch-flush.js";
import { flatHeaders, writeWhole } from "./write-response.js";

const NO_BODY = new Uint8Array(0);
const EXCHANGE = Symbol("exchange");
type Carrier = IncomingMessage & { [EXCHANGE]?: Http1Exchange };

/** One HTTP/1.1 request and its response. */
export class Http1Exchange extends HttpExchange implements LiveExchange {
  readonly #req: Carrier;
  readonly #res: ServerResponse;
  readonly #address: Address;
  #collected: ByteCollector | undefined;

  constructor(context: ExchangeContext, req: IncomingMessage, res: ServerResponse, address: Address) {
    super(context);
    this.#req = req;
    this.#res = res;
    this.#address = address;
  }

  /** Reads the body, then starts. Listeners have no closures because this runs for every request. */
  collect(): void {
    this.#req[EXCHANGE] = this;
    this.#collected = new ByteCollector(this.context.limits.bodyBytes);
    this.#req.on("data", onData).on("end", onEnd);
  }

  take(piece: Buffer): void {
    if (this.#collected?.add(piece) !== false) return;
    this.#collected = undefined;
    this.#req.off("data", onData).off("end", onEnd);
    this.refuseTooLarge();
  }

  refuseTooLarge(): void {
    void this.answerTooLarge(this.#incoming(NO_BODY)).then((response) => {
      if (!this.#res.destroyed) refuseEarly(this.#req, this.#res, response);
    });
  }

  complete(): void {
    const collected = this.#collected;
    this.#collected = undefined;
    if (collected !== undefined) this.begin(collected.whole());
  }

  begin(body: Uint8Array): void {
    if (track(this.#req.socket, this)) this.dispatch(this.#incoming(body));
    else writeWhole(this.#res, refusePipelined(), true);
  }

  #incoming(body: Uint8Array): IncomingRequest {
    return new IncomingRequest(this.#req, this.#address, body, this.context.limits.jsonDepth);
  }

  protected override settle(response: HttpResponse): void {
    // A stream already has its first event, and more follow.
    if (isStream(response.body)) this.respond(response);
    else respondSoon(this, response);
  }

  protected isOpen(): boolean {
    return !this.#res.destroyed;
  }

  protected hasBegun(): boolean {
    return this.#res.headersSent;
  }

  protected isHead(): boolean {
    return this.#req.method === "HEAD";
  }

  protected writeWhole(response: HttpResponse): void {
    writeWhole(this.#res, response, this.context.closing);
    watchFlush(this.#res, this.context.limits.writeStallMs);
  }

  protected writeHeadOnly(response: HttpResponse): void {
    this.#res.writeHead(response.status, flatHeaders(response.headers, this.context.closing)).end();
  }

  protected createWriter(): ResponseWriter {
    return new Http1ResponseWriter(this.#res, this.context.closing);
  }

  protected cut(): void {
    this.#res.destroy();
  }

  protected finished(): void {
    untrack(this.#req.socket, this);
  }
}

const readyResponses: { readonly exchange: Http1Exchange; readonly response: HttpResponse }[] = [];

/**
 * Responses that are ready in one turn of the event loop are written together at its end. Writing each one immediately wakes the peer
 * each time, which costs more than the response itself; a single response waits only for this turn.
 */
function respondSoon(exchange: Http1Exchange, response: HttpResponse): void {
  if (readyResponses.push({ exchange, response }) === 1) setImmediate(respondAll);
}

function respondAll(): void {
  for (const { exchange, response } of readyResponses.splice(0)) exchange.respond(response);
}

function onData(this: Carrier, piece: Buffer): void {
  this[EXCHANGE]?.take(piece);
}

function onEnd(this: Carrier): void {
  this[EXCHANGE]?.complete();
}
