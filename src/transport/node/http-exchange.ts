import { AgentError } from "../../envelope/index.js";
import { type Chunk, type Exchange, type HttpResponse, isStream } from "../exchange.js";
import type { Limits } from "../limits.js";
import { bodyTooLarge, refuseFailed, refuseOverloaded, refuseTooLarge } from "../refusal.js";
import { respondUnread } from "../unread.js";
import type { IncomingRequest } from "./incoming-request.js";
import type { ResponseWriter } from "./response-writer.js";
import { StreamWriter } from "./stream-writer.js";

/** State shared by all exchanges of one handler. */
export interface ExchangeContext {
  readonly exchange: Exchange;
  readonly limits: Limits;
  /** Set at shutdown: later responses close their connection. */
  readonly closing: boolean;
  openStreams: number;
  report(thrown: unknown): void;
}

/** One request and its response; common to HTTP/1.1 and HTTP/2. */
export abstract class HttpExchange {
  protected readonly context: ExchangeContext;
  #incoming: IncomingRequest | undefined;
  #writer: StreamWriter | undefined;
  #disconnected = false;

  constructor(context: ExchangeContext) {
    this.context = context;
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
  /** The response is written or abandoned. */
  protected abstract finished(): void;

  protected dispatch(incoming: IncomingRequest): void {
    this.#incoming = incoming;
    let answer: HttpResponse | Promise<HttpResponse>;
    try {
      answer = this.context.exchange(incoming);
    } catch (thrown) {
      this.#failed(thrown);
      return;
    }
    if (answer instanceof Promise) {
      answer.then(
        (response) => this.settle(response),
        (thrown: unknown) => this.#failed(thrown),
      );
    } else this.respond(answer);
  }

  /** Handles an asynchronous response. */
  protected settle(response: HttpResponse): void {
    this.respond(response);
  }

  /** The response for a body above the limit, in the format of the addressed protocol. */
  protected answerTooLarge(incoming: IncomingRequest): Promise<HttpResponse> {
    const { exchange, limits } = this.context;
    return respondUnread(exchange, incoming, bodyTooLarge(limits.bodyBytes), refuseTooLarge(limits.bodyBytes));
  }

  /** The peer has disconnected. */
  peerDisconnected(): void {
    this.#disconnected = true;
    this.#writer?.cut();
    this.#incoming?.peerDisconnected(new AgentError("cancelled", "the caller disconnected"));
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
      this.#incoming?.peerDisconnected(new AgentError("overloaded", "too many streams are open"));
      this.respond(refuseOverloaded());
    } else {
      const done = (): void => {
        context.openStreams--;
        this.finished();
      };
      const end = { done, failed: (thrown: unknown) => context.report(thrown) };
      const writer = new StreamWriter(this.createWriter(), response, body, { stallMs: context.limits.writeStallMs, end });
      writer.start();
      context.openStreams++;
      this.#writer = writer;
    }
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
