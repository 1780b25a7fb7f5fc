import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import { AgentError } from "../../envelope/index.js";
import { ByteCollector } from "../body.js";
import type { Chunk, HttpResponse } from "../exchange.js";
import { foreignEncoding, refuseEncoding } from "../refusal.js";
import { errorResponse } from "../response.js";
import { type ExchangeContext, HttpExchange } from "./http-exchange.js";
import { addFields } from "./http2-fields.js";
import { Http2Head, http2Address, refuseHead } from "./http2-head.js";
import { endWith, Http2ResponseWriter, resetStream, sendTrailers } from "./http2-response-writer.js";
import { type Address, headersOf, IncomingRequest } from "./incoming-request.js";
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

const NO_BODY = new Uint8Array(0);
const EXCHANGE = Symbol("exchange");
type Carrier = ServerHttp2Stream & { [EXCHANGE]?: Http2Exchange };

/** One HTTP/2 stream: a request and its response. Listeners have no closures because they are set for every request. */
export class Http2Exchange extends HttpExchange {
  readonly #connection: Http2ExchangeContext;
  readonly #stream: Carrier;
  readonly #head: Http2Head;
  readonly #address: Address;
  #collected: ByteCollector | undefined;
  /** One timer for two waits: for the rest of the body, and for the response to be read. */
  #timer: NodeJS.Timeout | undefined;
  #answered = false;

  constructor(
    connection: Http2ExchangeContext,
    stream: ServerHttp2Stream,
    fields: IncomingHttpHeaders,
    rawHeaders: readonly string[],
  ) {
    super(connection.context);
    this.#connection = connection;
    this.#stream = stream;
    this.#head = new Http2Head(fields, rawHeaders, connection.socket);
    this.#address = http2Address(fields, this.#head);
    this.#stream[EXCHANGE] = this;
    stream.on("close", onClose);
    connection.exchangeStarted();
  }

  begin(fields: IncomingHttpHeaders, hasBody: boolean): void {
    const refusal = refuseHead(fields);
    if (refusal !== undefined) this.#refuse(refusal);
    else if (hasBody) this.#collect();
    else this.dispatch(this.#incoming(NO_BODY));
  }

  #collect(): void {
    const headers = headersOf(this.#head);
    const { bodyBytes, requestMs } = this.context.limits;
    const encoding = foreignEncoding(headers);
    if (encoding !== undefined) this.#refuse(refuseEncoding(encoding));
    else if (Number(headers["content-length"]) > bodyBytes) this.#refuseTooLarge();
    else {
      if (headers["expect"]?.toLowerCase() === "100-continue") this.#stream.additionalHeaders({ ":status": 100 });
      this.#collected = new ByteCollector(bodyBytes);
      this.#timer = setTimeout(() => this.#refuse(tooSlow()), requestMs);
      this.#stream.on("data", onData).on("end", onEnd);
    }
  }

  take(piece: Buffer): void {
    if (this.#collected?.add(piece) === false) this.#refuseTooLarge();
  }

  complete(): void {
    const collected = this.#collected;
    this.#stopReading();
    if (collected !== undefined) this.dispatch(this.#incoming(collected.whole()));
  }

  closed(): void {
    this.#stopReading();
    if (!this.#answered) {
      if (!this.hasBegun()) this.#connection.requestReset();
      this.peerDisconnected();
    }
    this.#connection.exchangeEnded();
  }

  #incoming(body: Uint8Array): IncomingRequest {
    return new IncomingRequest(this.#head, this.#address, body, this.context.limits.jsonDepth);
  }

  #refuseTooLarge(): void {
    this.#stopReading();
    this.#stream.pause();
    void this.answerTooLarge(this.#incoming(NO_BODY)).then((response) => this.#refuse(response));
  }

  /** Responds without the rest of the body and asks the peer not to send it (RFC 9113 §8.1). */
  #refuse(response: HttpResponse): void {
    this.#stopReading();
    // Only after the response was sent: Node forgets a stream that is closed and then cut without sending a reset, and writes empty
    // frames for it endlessly.
    this.#stream.once("finish", closeStream);
    this.respond(response);
    // Discards the received body: a stream that is not read to its end is never released.
    this.#stream.resume();
  }

  #stopReading(): void {
    this.#collected = undefined;
    clearTimeout(this.#timer);
  }

  protected isOpen(): boolean {
    return !this.#stream.destroyed && !this.#stream.closed;
  }

  protected hasBegun(): boolean {
    return this.#stream.headersSent;
  }

  protected isHead(): boolean {
    return this.#head.method === "HEAD";
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

  protected finished(): void {
    this.#answered = true;
  }
}

function tooSlow(): HttpResponse {
  return errorResponse(408, new AgentError("deadline", "the request did not arrive in time"));
}

function closeStream(this: ServerHttp2Stream): void {
  this.close(constants.NGHTTP2_NO_ERROR);
}

function onData(this: Carrier, piece: Buffer): void {
  this[EXCHANGE]?.take(piece);
}

function onEnd(this: Carrier): void {
  this[EXCHANGE]?.complete();
}

function onClose(this: Carrier): void {
  this[EXCHANGE]?.closed();
}
