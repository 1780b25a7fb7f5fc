import { AgentError } from "../../envelope/index.js";
import { type Chunk, type Exchange, type HttpResponse, isStream } from "../exchange.js";
import type { Limits } from "../limits.js";
import { bodyTooLarge, refuseFailed, refuseOverloaded, refuseTooLarge } from "../refusal.js";
import { answerUnread } from "../unread.js";
import type { IncomingRequest } from "./incoming-request.js";
import type { ResponseWriter } from "./response-writer.js";
import { StreamWriter } from "./stream-writer.js";

/** What all passages through one door share. */
export interface ExchangeContext {
  readonly exchange: Exchange;
  readonly limits: Limits;
  /** Set at shutdown: answers from then on close their connection. */
  readonly closing: boolean;
  openStreams: number;
  report(thrown: unknown): void;
}

/** One request on its way in and its answer on the way out; what HTTP/1.1 and HTTP/2 have in common. */
export abstract class HttpExchange {
  protected readonly door: ExchangeContext;
  #incoming: IncomingRequest | undefined;
  #writer: StreamWriter | undefined;
  #gone = false;

  constructor(door: ExchangeContext) {
    this.door = door;
  }

  /** False once nothing can be written any more. */
  protected abstract isOpen(): boolean;
  /** True when the answer's head is written: what fails from then on can only be cut. */
  protected abstract hasBegun(): boolean;
  protected abstract isHead(): boolean;
  /** Throws, before anything is written, for headers that are not HTTP. */
  protected abstract writeWhole(response: HttpResponse): void;
  /** The head of an answer whose stream nobody will read. */
  protected abstract writeHeadOnly(response: HttpResponse): void;
  protected abstract outlet(): ResponseWriter;
  protected abstract cut(): void;
  /** The answer is written, or there will be none. */
  protected abstract leave(): void;

  protected ask(incoming: IncomingRequest): void {
    this.#incoming = incoming;
    let answer: HttpResponse | Promise<HttpResponse>;
    try {
      answer = this.door.exchange(incoming);
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

  /** What happens with an answer that took its time. */
  protected settle(response: HttpResponse): void {
    this.respond(response);
  }

  /** The answer where the body is longer than we read. Said in the form of the protocol that was addressed. */
  protected answerTooLarge(incoming: IncomingRequest): Promise<HttpResponse> {
    const { exchange, limits } = this.door;
    return answerUnread(exchange, incoming, bodyTooLarge(limits.bodyBytes), refuseTooLarge(limits.bodyBytes));
  }

  /** The other side is not there any more. */
  hangUp(): void {
    this.#gone = true;
    this.#writer?.cut();
    this.#incoming?.hangUp(new AgentError("cancelled", "the caller hung up"));
  }

  respond(response: HttpResponse): void {
    const { body } = response;
    if (this.#gone || !this.isOpen()) {
      discard(body);
      this.leave();
      return;
    }
    try {
      if (isStream(body)) this.#stream(response, body);
      else {
        this.writeWhole(response);
        this.leave();
      }
    } catch (thrown) {
      discard(body);
      this.#failed(thrown);
    }
  }

  #stream(response: HttpResponse, body: AsyncIterable<Chunk>): void {
    const { door } = this;
    if (this.isHead()) {
      discard(body);
      this.writeHeadOnly(response);
      this.leave();
    } else if (door.openStreams >= door.limits.openStreams) {
      discard(body);
      this.#incoming?.hangUp(new AgentError("overloaded", "too many streams are open"));
      this.respond(refuseOverloaded());
    } else {
      const done = (): void => {
        door.openStreams--;
        this.leave();
      };
      const end = { done, failed: (thrown: unknown) => door.report(thrown) };
      const writer = new StreamWriter(this.outlet(), response, body, { stallMs: door.limits.writeStallMs, end });
      writer.start();
      door.openStreams++;
      this.#writer = writer;
    }
  }

  #failed(thrown: unknown): void {
    this.door.report(thrown);
    if (!this.#gone && this.isOpen()) {
      if (this.hasBegun()) this.cut();
      else this.writeWhole(refuseFailed());
    }
    this.leave();
  }
}

/** An answer nobody will read. */
function discard(body: HttpResponse["body"]): void {
  if (!isStream(body)) return;
  body[Symbol.asyncIterator]()
    .return?.()
    .catch(() => undefined);
}
