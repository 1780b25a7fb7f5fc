import type { IncomingMessage, ServerResponse } from "node:http";
import { ByteCollector } from "../body.js";
import { type HttpResponse, isStream } from "../exchange.js";
import { refuseCrowded } from "../refusal.js";
import { type ExchangeContext, HttpExchange } from "./http-exchange.js";
import { Http1ResponseWriter } from "./http1-response-writer.js";
import { type Address, IncomingRequest } from "./incoming-request.js";
import { type LiveExchange, track, untrack } from "./live-exchanges.js";
import { refuseEarly } from "./refuse-early.js";
import type { ResponseWriter } from "./response-writer.js";
import { watchRest } from "./watch-rest.js";
import { flatHeaders, writeWhole } from "./write-response.js";

const NO_BODY = new Uint8Array(0);
const PASSAGE = Symbol("passage");
type Carrier = IncomingMessage & { [PASSAGE]?: Http1Exchange };

/** One HTTP/1.1 request and its answer. */
export class Http1Exchange extends HttpExchange implements LiveExchange {
  readonly #req: Carrier;
  readonly #res: ServerResponse;
  readonly #address: Address;
  #collected: ByteCollector | undefined;

  constructor(door: ExchangeContext, req: IncomingMessage, res: ServerResponse, address: Address) {
    super(door);
    this.#req = req;
    this.#res = res;
    this.#address = address;
  }

  /** Reads the body, then begins. Listeners without closures: this runs for every request. */
  collect(): void {
    this.#req[PASSAGE] = this;
    this.#collected = new ByteCollector(this.door.limits.bodyBytes);
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
    if (track(this.#req.socket, this)) this.ask(this.#incoming(body));
    else writeWhole(this.#res, refuseCrowded(), true);
  }

  #incoming(body: Uint8Array): IncomingRequest {
    return new IncomingRequest(this.#req, this.#address, body, this.door.limits.jsonDepth);
  }

  protected override settle(response: HttpResponse): void {
    // A stream has its first event already, and more will follow at their own times.
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
    writeWhole(this.#res, response, this.door.closing);
    watchRest(this.#res, this.door.limits.writeStallMs);
  }

  protected writeHeadOnly(response: HttpResponse): void {
    this.#res.writeHead(response.status, flatHeaders(response.headers, this.door.closing)).end();
  }

  protected outlet(): ResponseWriter {
    return new Http1ResponseWriter(this.#res, this.door.closing);
  }

  protected cut(): void {
    this.#res.destroy();
  }

  protected leave(): void {
    untrack(this.#req.socket, this);
  }
}

const answered: { readonly passage: Http1Exchange; readonly response: HttpResponse }[] = [];

/**
 * Answers that are ready in one turn of the event loop leave together at its end. Writing each at once wakes the peer each
 * time, lets it fall asleep again, and costs more than the answer itself; alone, an answer waits for nothing but this turn.
 */
function respondSoon(passage: Http1Exchange, response: HttpResponse): void {
  if (answered.push({ passage, response }) === 1) setImmediate(respondAll);
}

function respondAll(): void {
  for (const { passage, response } of answered.splice(0)) passage.respond(response);
}

function onData(this: Carrier, piece: Buffer): void {
  this[PASSAGE]?.take(piece);
}

function onEnd(this: Carrier): void {
  this[PASSAGE]?.complete();
}
