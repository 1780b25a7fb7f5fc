import type { IncomingMessage, ServerResponse } from "node:http";
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

/** What Node buffers of a body that nothing reads. */
const BUFFERED_BYTES = 64 * 1024;
const EXCHANGE = Symbol("exchange");
type Carrier = IncomingMessage & { [EXCHANGE]?: Http1Exchange | undefined };

/** A request of Node's server. */
export interface Http1Message {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly address: Address;
  readonly hasBody: boolean;
  /** The peer waits for `100 Continue` before it sends the body. */
  readonly expects: boolean;
}

/** One HTTP/1.1 request and its response. */
export class Http1Exchange extends HttpExchange implements LiveExchange {
  readonly #req: Carrier;
  readonly #res: ServerResponse;
  readonly #expects: boolean;
  #tracked = false;
  /** The turn of the event loop in which the request was complete. */
  #turn = 0;

  constructor(context: ExchangeContext, { req, res, address, hasBody, expects }: Http1Message) {
    super(context, new IncomingRequest(req, address, hasBody, context));
    this.#req = req;
    this.#res = res;
    this.#expects = expects;
  }

  protected get bufferedBytes(): number {
    return BUFFERED_BYTES;
  }

  /** Many clients of HTTP/1.1 read no response before they have sent everything. */
  protected get canStream(): boolean {
    return false;
  }

  /** Listeners have no closures because this runs for every request. */
  protected readBody(): void {
    if (this.#expects) this.#res.writeContinue();
    this.#req[EXCHANGE] = this;
    this.#req.on("data", onData).on("end", onEnd).on("close", onClose);
  }

  protected stopReading(): void {
    // What still calls a listener finds no exchange. Removing them is expensive, and only stops a body that has not ended.
    this.#req[EXCHANGE] = undefined;
    if (!this.#req.readableEnded) this.#req.off("data", onData).off("end", onEnd).off("close", onClose);
  }

  refuse(response: HttpResponse): void {
    if (!this.#res.destroyed) refuseEarly(this.#req, this.#res, response, this.context.closing || this.#expects);
    this.finished();
  }

  bodyCut(): void {
    this.forgetBody();
    this.peerDisconnected();
  }

  protected override dispatch(): void {
    this.#tracked = track(this.#req.socket, this);
    if (this.#tracked) {
      this.context.unanswered++;
      this.#turn = currentTurn();
      super.dispatch();
    } else {
      writeWhole(this.#res, refusePipelined(), true);
      this.finished();
    }
  }

  protected override settle(response: HttpResponse): void {
    // A stream already has its first event, and more follow.
    if (isStream(response.body) || this.#isAlone()) this.respond(response);
    else respondSoon(this, response);
  }

  /** No other request waits for its response, and those that came in the same turn were answered at its end. */
  #isAlone(): boolean {
    return this.context.unanswered === 1 && this.#turn !== turn;
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

  protected override finished(): void {
    super.finished();
    if (!this.#tracked) return;
    this.#tracked = false;
    this.context.unanswered--;
    untrack(this.#req.socket, this);
  }
}

const readyResponses: { readonly exchange: Http1Exchange; readonly response: HttpResponse }[] = [];

/**
 * Responses that are ready in one turn of the event loop are written together at its end. Writing each one immediately wakes the peer
 * each time, which costs more than the response itself.
 */
function respondSoon(exchange: Http1Exchange, response: HttpResponse): void {
  readyResponses.push({ exchange, response });
  currentTurn();
}

let turn = 0;
let endsSoon = false;

/** A number that no other turn of the event loop gets. */
function currentTurn(): number {
  if (!endsSoon) setImmediate(endTurn);
  endsSoon = true;
  return turn;
}

function endTurn(): void {
  turn++;
  endsSoon = false;
  for (const { exchange, response } of readyResponses.splice(0)) exchange.respond(response);
}

function onData(this: Carrier, piece: Buffer): void {
  this[EXCHANGE]?.receive(piece);
}

function onEnd(this: Carrier): void {
  this[EXCHANGE]?.complete();
}

/** The peer disconnected before the body was complete. */
function onClose(this: Carrier): void {
  this[EXCHANGE]?.bodyCut();
}
