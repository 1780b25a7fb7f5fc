import { AgentError, type Awaitable } from "../../envelope/index.js";
import { ByteCollector } from "../body.js";
import { assignWhenAdmitted, BufferedBytes, bufferedBytesOf } from "../buffered-bytes.js";
import { type Chunk, type HttpResponse, type Intake, isStream, type RequestHead, type Taken } from "../exchange.js";
import { isRefusal, respondTooLarge } from "../intake.js";
import type { Limits } from "../limits.js";
import { refuseClosing, refuseFailed, refuseOverloaded, shuttingDown } from "../refusal.js";
import { respondUnread } from "../unread.js";
import { ArrivingBody } from "./arriving-body.js";
import type { IncomingRequest, RequestContext } from "./incoming-request.js";
import type { ResponseWriter } from "./response-writer.js";
import { type StreamOwner, StreamWriter } from "./stream-writer.js";

/** State shared by all exchanges of one handler. */
export interface ExchangeContext extends RequestContext {
  readonly intake: Intake;
  readonly limits: Limits;
  /** Set at shutdown: later responses close their connection. */
  readonly closing: boolean;
  /** Whether a new request is refused because of the shutdown. */
  refuses(head: RequestHead): boolean;
  openStreams: number;
  /** Requests that are not answered yet; a stream counts until it ends. */
  unanswered: number;
  report(thrown: unknown): void;
}

/** One request and its response; common to HTTP/1.1 and HTTP/2. */
export abstract class HttpExchange implements StreamOwner {
  protected readonly context: ExchangeContext;
  protected readonly incoming: IncomingRequest;
  #taken: Taken | undefined;
  #collected: ByteCollector | undefined;
  #arriving: ArrivingBody | undefined;
  /** What the body holds in memory until the exchange ends. */
  #held: BufferedBytes | undefined;
  #writer: StreamWriter | undefined;
  #disconnected = false;

  constructor(context: ExchangeContext, incoming: IncomingRequest) {
    this.context = context;
    this.incoming = incoming;
  }

  /** False once nothing more can be written. */
  protected abstract isOpen(): boolean;
  /** True once the response head is written: a later failure can only cut the response. */
  protected abstract hasBegun(): boolean;
  protected abstract isHead(): boolean;
  /** Throws before writing if the headers are not valid HTTP. */
  protected abstract writeWhole(response: HttpResponse): void;
  /** Writes the head of a response whose stream will not be read. */
  protected abstract writeHeadOnly(response: HttpResponse): void;
  protected abstract createWriter(): ResponseWriter;
  protected abstract cut(): void;
  /** Body bytes that the connection buffers while nothing reads them. */
  protected abstract readonly bufferedBytes: number;
  /** Whether a response can begin before the body has arrived. */
  protected abstract readonly canStream: boolean;
  /** Reads the body: `receive` for every chunk, then `complete`. */
  protected abstract readBody(): void;
  protected abstract stopReading(): void;
  /** Responds without reading the rest of the body. */
  protected abstract refuse(response: HttpResponse): void;

  /** Lets the server decide by the head. The body is read only if it takes the request. */
  start(): void {
    const { hasBody } = this.incoming;
    let taken: Awaitable<Taken | HttpResponse>;
    try {
      taken = this.context.refuses(this.incoming) ? this.#refusedByShutdown() : this.context.intake.take(this.incoming);
    } catch (thrown) {
      this.#failed(thrown);
      return;
    }
    if (!(taken instanceof Promise)) {
      this.#decided(taken);
      return;
    }
    // Meanwhile the body arrives in the connection's buffers.
    const waiting = new BufferedBytes(this.context.limits, undefined);
    if (hasBody && !waiting.add(Math.min(this.#declaredBytes(), this.bufferedBytes))) {
      taken.catch(() => undefined);
      this.refuse(waiting.refusal());
      return;
    }
    taken.then(
      (decided) => {
        waiting.release();
        if (this.isOpen()) this.#decided(decided);
        else this.finished();
      },
      (thrown: unknown) => {
        waiting.release();
        this.#failed(thrown);
      },
    );
  }

  #refusedByShutdown(): Awaitable<HttpResponse> {
    return this.context.intake.refuse?.(this.incoming, shuttingDown()) ?? refuseClosing();
  }

  #decided(taken: Taken | HttpResponse): void {
    const { hasBody } = this.incoming;
    if (isRefusal(taken)) {
      if (hasBody) this.refuse(taken);
      else this.settle(taken);
      return;
    }
    this.#taken = taken;
    if (!hasBody) {
      this.dispatch();
      return;
    }
    const declared = this.#declaredBytes();
    if (declared > taken.bodyBytes && this.incoming.headers["content-length"] !== undefined) this.#refuseTooLarge(taken);
    else {
      this.#held = bufferedBytesOf(this.context.limits, this.incoming, taken.unadmitted);
      if (taken.streamed === true && this.canStream) {
        this.#arriving = new ArrivingBody(taken.bodyBytes, this.#held);
        this.incoming.arriving = this.#arriving.bytes;
        this.readBody();
        this.dispatch();
        return;
      }
      // Exactly its length if that is known: a buffer that doubles needs twice as much.
      this.#collected = new ByteCollector(Math.min(taken.bodyBytes, declared));
      this.readBody();
    }
  }

  /** By `Content-Length`; a body without it may have any length. */
  #declaredBytes(): number {
    const length = this.incoming.headers["content-length"];
    return length === undefined ? Number.POSITIVE_INFINITY : Number(length);
  }

  /** A part of the body has arrived. */
  receive(piece: Buffer): void {
    if (this.#arriving !== undefined) {
      this.#arriving.receive(piece);
      return;
    }
    const taken = this.#taken;
    const collected = this.#collected;
    const held = this.#held;
    if (taken === undefined || collected === undefined || held === undefined) return;
    if (!held.add(collected.growthFor(piece))) this.#refuseUnread(taken, held);
    else if (!collected.add(piece)) this.#refuseTooLarge(taken);
  }

  /** The body is complete. */
  complete(): void {
    if (this.endArriving()) this.stopReading();
    const collected = this.#collected;
    if (collected === undefined) return;
    this.forgetBody();
    this.incoming.receiveBody(collected.whole());
    this.dispatch();
  }

  /** A streamed body ends here; false if the body is not streamed. */
  protected endArriving(): boolean {
    this.#arriving?.bytes.end();
    return this.#arriving !== undefined;
  }

  /** Nothing more of the body is wanted. */
  protected forgetBody(): void {
    this.#collected = undefined;
    this.stopReading();
  }

  #refuseTooLarge(taken: Taken): void {
    this.forgetBody();
    this.#held?.release();
    void respondTooLarge(this.incoming, taken).then((response) => this.refuse(response));
  }

  #refuseUnread({ exchange }: Taken, held: BufferedBytes): void {
    this.forgetBody();
    held.release();
    void respondUnread(exchange, this.incoming, held.problem(), held.refusal()).then((response) => this.refuse(response));
  }

  protected dispatch(): void {
    const { incoming } = this;
    let answer: Awaitable<HttpResponse>;
    try {
      answer = (this.#taken as Taken).exchange(incoming); // set before the body is read
    } catch (thrown) {
      this.#failed(thrown);
      return;
    }
    this.#assignBody();
    if (answer instanceof Promise) {
      answer.then(
        (response) => {
          this.#assignBody();
          this.settle(response);
        },
        (thrown: unknown) => this.#failed(thrown),
      );
    } else this.respond(answer);
  }

  /** The protocol may have authenticated the caller meanwhile. */
  #assignBody(): void {
    if (this.#taken?.unadmitted === true && this.#held !== undefined) assignWhenAdmitted(this.#held, this.incoming);
  }

  /** Handles an asynchronous response. */
  protected settle(response: HttpResponse): void {
    this.respond(response);
  }

  /** The peer has disconnected. */
  peerDisconnected(): void {
    this.#disconnected = true;
    this.#held?.release();
    this.#writer?.cut();
    const reason = new AgentError("cancelled", "the caller disconnected");
    this.#arriving?.bytes.fail(reason);
    this.incoming.peerDisconnected(reason);
  }

  /** The response is written or abandoned. */
  protected finished(): void {
    this.#held?.release();
  }

  respond(response: HttpResponse): void {
    const { body } = response;
    if (this.#disconnected || !this.isOpen()) {
      discard(body);
      this.finished();
      return;
    }
    try {
      if (isStream(body)) this.#stream(response, body);
      else {
        this.writeWhole(response);
        this.finished();
      }
    } catch (thrown) {
      discard(body);
      this.#failed(thrown);
    }
  }

  #stream(response: HttpResponse, body: AsyncIterable<Chunk>): void {
    const { context } = this;
    if (this.isHead()) {
      discard(body);
      this.writeHeadOnly(response);
      this.finished();
    } else if (context.openStreams >= context.limits.openStreams) {
      discard(body);
      this.incoming.peerDisconnected(new AgentError("overloaded", "too many streams are open"));
      this.respond(refuseOverloaded());
    } else {
      const { writeStallMs: stallMs } = context.limits;
      const writer = new StreamWriter(this.createWriter(), response, body, { stallMs, owner: this });
      writer.start();
      context.openStreams++;
      if (this.#arriving === undefined && !this.incoming.holdsBody) this.#held?.release();
      this.#writer = writer;
    }
  }

  streamEnded(): void {
    this.context.openStreams--;
    this.finished();
  }

  streamFailed(thrown: unknown): void {
    this.context.report(thrown);
  }

  #failed(thrown: unknown): void {
    this.context.report(thrown);
    if (!this.#disconnected && this.isOpen()) {
      if (this.hasBegun()) this.cut();
      else this.writeWhole(refuseFailed());
    }
    this.finished();
  }
}

/** Discards a response that will not be read. */
function discard(body: HttpResponse["body"]): void {
  if (!isStream(body)) return;
  body[Symbol.asyncIterator]()
    .return?.()
    .catch(() => undefined);
}
