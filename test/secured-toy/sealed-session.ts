import { AgentError, type Maybe } from "../../src/envelope/index.js";
import { RecordError, type SealedChannel } from "../../src/security/sealed-records/index.js";
import { bytesOf } from "../../src/transport/body.js";
import type { Chunk, Session } from "../../src/transport/exchange.js";

const NOTHING = new Uint8Array(0);
const REFUSED = 1008;

/** A session inside a session: texts are sent as records in base64url. A refused record ends it. */
export class SealedSession implements Session {
  readonly outer: Session;
  readonly frames: AsyncIterable<Chunk>;
  readonly #channel: SealedChannel;
  #last: Maybe<{ readonly text: string; readonly frame: Chunk }>;

  constructor(outer: Session, frames: AsyncIterator<Chunk>, channel: SealedChannel) {
    this.outer = outer;
    this.#channel = channel;
    this.frames = this.#opened(frames);
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

  send(frame: Chunk, call?: Parameters<Session["send"]>[1]): ReturnType<Session["send"]> {
    let record: Uint8Array;
    try {
      record = this.#channel.seal(bytesOf(frame), NOTHING);
    } catch (thrown) {
      const ended = Promise.reject(new AgentError("unavailable", "the sealed session has ended", { sent: "no", cause: thrown }));
      ended.catch(() => undefined); // whoever sends need not wait
      return ended;
    }
    return this.outer.send(Buffer.from(record).toString("base64url"), call);
  }

  /** Observers know the record, not what is in it. */
  assign(frame: Chunk, call: Parameters<Session["assign"]>[1]): void {
    this.outer.assign(this.outerOf(frame), call);
  }

  outerOf(frame: Chunk): Chunk {
    return this.#last !== undefined && this.#last.text === frame ? this.#last.frame : frame;
  }

  hold(): ReturnType<Session["hold"]> {
    return this.outer.hold();
  }
  shutDown(reason: Parameters<Session["shutDown"]>[0]): ReturnType<Session["shutDown"]> {
    return this.outer.shutDown(reason);
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

  async *#opened(frames: AsyncIterator<Chunk>): AsyncGenerator<Chunk, void, void> {
    for (let step = await frames.next(); step.done !== true; step = await frames.next()) {
      const text = this.#open(step.value);
      if (text === undefined) return;
      this.#last = { text, frame: step.value };
      yield text;
    }
  }

  #open(frame: Chunk): Maybe<string> {
    try {
      const record = typeof frame === "string" ? Buffer.from(frame, "base64url") : frame;
      return Buffer.from(this.#channel.open(record, NOTHING)).toString("utf8");
    } catch (thrown) {
      if (!(thrown instanceof RecordError)) throw thrown;
      this.#channel.close();
      this.outer.close(REFUSED, "record refused");
      return undefined;
    }
  }
}
