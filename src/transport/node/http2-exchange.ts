import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { AgentError } from "../../envelope/index.js";
import type { Chunk, HttpResponse } from "../exchange.js";
import { foreignEncoding, refuseEncoding } from "../refusal.js";
import { errorResponse } from "../response.js";
import { type DeferredTimer, deferTimer } from "./deferred-timer.js";
import { type ExchangeContext, HttpExchange } from "./http-exchange.js";
import { addFields } from "./http2-fields.js";
import { Http2Head, http2Address, refuseHead } from "./http2-head.js";
import { endWith, Http2ResponseWriter, resetStream, sendTrailers } from "./http2-response-writer.js";
import { IncomingRequest } from "./incoming-request.js";
import { http2 } from "./lazy-module.js";
import type { ResponseWriter } from "./response-writer.js";
import { hasNoContent } from "./write-response.js";

/** The connection as an exchange sees it. */
export interface Http2ExchangeContext {
  readonly context: ExchangeContext;
  readonly socket: Socket;
  /** Every exchange enters once, and leaves once when its stream is closed: until then unread data may be buffered. */
  exchangeStarted(): void;
  exchangeEnded(): void;
  /** The peer reset a request before its response started. */
  requestReset(): void;
}

/** Flow-control window: how much of a body a peer may send ahead of the reader. */
export const STREAM_WINDOW_BYTES = 256 * 1024;
const EXCHANGE = Symbol("exchange");
type Carrier = ServerHttp2Stream & { [EXCHANGE]?: Http2Exchange };

/** The request that opens a stream. */
export interface Http2Message {
  readonly fields: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
  readonly hasBody: boolean;
}

/** One HTTP/2 stream: a request and its response. Listeners have no closures because they are set for every request. */
export class Http2Exchange extends HttpExchange {
  readonly #connection: Http2ExchangeContext;
  readonly #stream: Carrier;
  /** One timer for two waits: for the rest of the body, and for the response to be read. */
  #timer: DeferredTimer | undefined;
  #answered = false;

  constructor(connection: Http2ExchangeContext, stream: ServerHttp2Stream, { fields, rawHeaders, hasBody }: Http2Message) {
    const head = new Http2Head(fields, rawHeaders, connection.socket);
    super(connection.context, new IncomingRequest(head, http2Address(fields, head), hasBody, connection.context));
    this.#connection = connection;
    this.#stream = stream;
    this.#stream[EXCHANGE] = this;
    stream.on("close", onClose);
    connection.exchangeStarted();
  }

  begin(fields: IncomingHttpHeaders): void {
    const refusal = refuseHead(fields) ?? (this.incoming.hasBody ? this.#encodingRefusal() : undefined);
    if (refusal === undefined) this.start();
    else this.refuse(refusal);
  }

  #encodingRefusal(): HttpResponse | undefined {
    const encoding = foreignEncoding(this.incoming.headers);
    return encoding === undefined ? undefined : refuseEncoding(encoding);
  }

  /** A stream that nothing reads fills its flow-control window. */
  protected get bufferedBytes(): number {
    return STREAM_WINDOW_BYTES;
  }

  protected readBody(): void {
    if (this.incoming.headers["expect"]?.toLowerCase() === "100-continue") this.#stream.additionalHeaders({ ":status": 100 });
    this.#timer = deferTimer(onLate, this.context.limits.requestMs, this);
    this.#stream.on("data", onData).on("end", onEnd);
  }

  protected get canStream(): boolean {
    return true;
  }

  /** A streamed body ends when its time is over; what was answered stands. */
  late(): void {
    if (!this.endArriving()) this.refuse(tooSlow());
    else if (this.#answered) this.#stream.close(http2().constants.NGHTTP2_NO_ERROR);
  }

  protected stopReading(): void {
    this.#timer?.stop();
  }

  closed(): void {
    this.forgetBody();
    if (!this.#answered) {
      if (!this.hasBegun()) this.#connection.requestReset();
      this.peerDisconnected();
    }
    this.#connection.exchangeEnded();
  }

  /** Responds without the rest of the body and asks the peer not to send it (RFC 9113 §8.1). */
  protected refuse(response: HttpResponse): void {
    this.forgetBody();
    // Only after the response was sent: Node forgets a stream that is closed and then cut without sending a reset, and writes empty
    // frames for it endlessly.
    this.#stream.once("finish", closeStream);
    this.respond(response);
    // Discards the received body: a stream that is not read to its end is never released.
    this.#stream.resume();
  }

  protected isOpen(): boolean {
    return !this.#stream.destroyed && !this.#stream.closed;
  }

  protected hasBegun(): boolean {
    return this.#stream.headersSent;
  }

  protected isHead(): boolean {
    return this.incoming.method === "HEAD";
  }

  protected writeWhole(response: HttpResponse): void {
    const stream = this.#stream;
    const { status } = response;
    const body = response.body as Chunk | undefined; // streams go through StreamWriter
    const empty = body === undefined || body.length === 0 || hasNoContent(status);
    const trailers = response.trailers?.();
    const fields = addFields({ ":status": status }, response.headers);
    if (!empty && trailers === undefined) fields["content-length"] ??= Buffer.byteLength(body);
    if (this.isHead() || (empty && trailers === undefined)) stream.respond(fields, { endStream: true });
    else {
      if (trailers !== undefined) sendTrailers(stream, trailers);
      stream.respond(fields, { waitForTrailers: trailers !== undefined });
      this.#timer = endWith(stream, empty ? undefined : body, this.context.limits.writeStallMs);
    }
  }

  protected writeHeadOnly(response: HttpResponse): void {
    this.#stream.respond(addFields({ ":status": response.status }, response.headers), { endStream: true });
  }

  protected createWriter(): ResponseWriter {
    return new Http2ResponseWriter(this.#stream);
  }

  protected cut(): void {
    resetStream(this.#stream);
  }

  protected override finished(): void {
    super.finished();
    this.#answered = true;
  }
}

function tooSlow(): HttpResponse {
  return errorResponse(408, new AgentError("deadline", "the request did not arrive in time"));
}

/** One turn later: what was written is sent at the end of this one, and a reset before that discards it (Node 26). */
function closeStream(this: ServerHttp2Stream): void {
  setImmediate(() => {
    if (!this.destroyed) this.close(http2().constants.NGHTTP2_NO_ERROR);
  });
}

function onData(this: Carrier, piece: Buffer): void {
  this[EXCHANGE]?.receive(piece);
}

function onLate(exchange: Http2Exchange): void {
  exchange.late();
}

function onEnd(this: Carrier): void {
  this[EXCHANGE]?.complete();
}

function onClose(this: Carrier): void {
  this[EXCHANGE]?.closed();
}
