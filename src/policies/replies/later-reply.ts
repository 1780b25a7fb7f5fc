import type { AgentEvent, Operation, Reply } from "../../envelope/index.js";
import { DONE } from "./done.js";
import { iteratorOf, onlyEvent, wantsStream } from "./shape.js";
import { stopIterator } from "./stop-iterator.js";

/** A reply that is handed out now, of a call that begins later or never. */
export interface LaterReply {
  readonly reply: Reply;
  /** Calls the handler below, unless the reader has left. */
  begin(run: () => Reply): void;
  fail(thrown: unknown): void;
}

/** `leave` runs when the reader of a stream goes before it has begun. */
export function laterReply(operation: Operation, leave: () => void): LaterReply {
  return wantsStream(operation) ? new LaterStream(leave) : laterEvent();
}

function laterEvent(): LaterReply {
  let begin: LaterReply["begin"] = () => undefined;
  let fail: LaterReply["fail"] = () => undefined;
  const reply = new Promise<AgentEvent>((resolve, reject) => {
    fail = reject;
    begin = (run) => {
      try {
        resolve(onlyEvent(run()));
      } catch (thrown) {
        reject(thrown);
      }
    };
  });
  return { reply, begin, fail };
}

const EMPTY: AsyncIterator<AgentEvent> = { next: () => Promise.resolve(DONE) };

class LaterStream implements LaterReply, AsyncIterableIterator<AgentEvent> {
  readonly #leave: () => void;
  readonly #opened: Promise<AsyncIterator<AgentEvent>>;
  #open: (source: AsyncIterator<AgentEvent>) => void = () => undefined;
  #refuse: (thrown: unknown) => void = () => undefined;
  #source: AsyncIterator<AgentEvent> | undefined;
  #failed = false;
  #over = false;

  constructor(leave: () => void) {
    this.#leave = leave;
    this.#opened = new Promise((resolve, reject) => {
      this.#open = resolve;
      this.#refuse = reject;
    });
    this.#opened.catch(() => undefined); // a reader that never pulls never hears of it
  }

  get reply(): this {
    return this;
  }

  begin(run: () => Reply): void {
    if (this.#over || this.#failed) return;
    try {
      this.#source = iteratorOf(run());
      this.#open(this.#source);
    } catch (thrown) {
      this.fail(thrown);
    }
  }

  fail(thrown: unknown): void {
    this.#failed = true;
    this.#refuse(thrown);
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<IteratorResult<AgentEvent>> {
    if (this.#over) return DONE;
    if (this.#source !== undefined) return this.#source.next();
    try {
      return await (await this.#opened).next();
    } catch (thrown) {
      this.#over ||= this.#failed;
      throw thrown;
    }
  }

  async return(): Promise<IteratorResult<AgentEvent>> {
    if (this.#over) return DONE;
    this.#over = true;
    if (this.#source !== undefined) stopIterator(this.#source);
    else if (!this.#failed) this.#leave();
    this.#open(EMPTY); // ends the pulls that wait for it to begin
    return DONE;
  }
}
