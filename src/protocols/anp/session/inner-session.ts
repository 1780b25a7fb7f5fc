import type { Call, Maybe } from "../../../envelope/index.js";
import type { Chunk, Session, SessionMessage } from "../../../transport/exchange.js";

/** A message of an inner session, and the message of the connection whose arrival completed it. */
export interface InnerMessage {
  readonly inner: Chunk;
  readonly outer: Chunk;
}

/** A session inside a session: its messages are sealed, everything else is that of the connection. */
export abstract class InnerSession implements Session {
  protected readonly outer: Session;
  readonly frames: AsyncIterable<Chunk> & AsyncIterator<Chunk>;
  #last: Maybe<InnerMessage>;

  constructor(outer: Session) {
    this.outer = outer;
    const next = (): Promise<IteratorResult<Chunk>> => this.#next();
    this.frames = {
      next,
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  get request(): Session["request"] {
    return this.outer.request;
  }
  get subprotocol(): string {
    return this.outer.subprotocol;
  }
  get closed(): Session["closed"] {
    return this.outer.closed;
  }

  abstract send(frame: Chunk, call?: Maybe<Call>): Maybe<Promise<void>>;
  /** The next message. Undefined: there are no more. */
  protected abstract nextMessage(): Promise<Maybe<InnerMessage>>;

  /** Observers know the sealed message, not what is in it. */
  assign(frame: Chunk, call: Call): void {
    const { session, frame: outer } = this.outerOf(frame);
    session.assign(outer, call);
  }

  /** The message of the connection whose arrival completed this one. */
  outerOf(frame: Chunk): Pick<SessionMessage, "session" | "frame"> {
    return { session: this.outer, frame: this.#last?.inner === frame ? this.#last.outer : frame };
  }

  hold(): ReturnType<Session["hold"]> {
    return this.outer.hold();
  }
  shutDown(reason: string): void {
    this.outer.shutDown(reason);
  }
  markSealed(seal: Parameters<Session["markSealed"]>[0]): void {
    this.outer.markSealed(seal);
  }
  tap(tap: Parameters<Session["tap"]>[0]): void {
    this.outer.tap(tap);
  }
  close(code: number, reason: string): void {
    this.outer.close(code, reason);
  }

  async #next(): Promise<IteratorResult<Chunk>> {
    const message = await this.nextMessage();
    if (message === undefined) return { done: true, value: undefined };
    this.#last = message;
    return { done: false, value: message.inner };
  }
}
