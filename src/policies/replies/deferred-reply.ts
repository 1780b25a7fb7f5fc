import type { AgentEvent, Operation, Reply } from "../../envelope/index.js";
import { DONE, stopIterator } from "./iterators.js";
import { iteratorOf, onlyEvent, wantsStream } from "./shape.js";

/** A reply handed out now for a call that starts later or never. */
export interface DeferredReply {
  readonly reply: Reply;
  /** Calls the next handler, unless the reader has left. */
  begin(run: () => Reply): void;
  fail(thrown: unknown): void;
}

/** `leave` runs if the reader of a stream stops before the call has started. */
export function deferredReply(operation: Operation, leave: () => void): DeferredReply {
  return wantsStream(operation) ? new DeferredStream(leave) : deferredEvent();
}

function deferredEvent(): DeferredReply {
  let begin: DeferredReply["begin"] = () => undefined;
  let fail: DeferredReply["fail"] = () => undefined;
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

class DeferredStream implements DeferredReply, AsyncIterableIterator<AgentEvent> {
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
    this.#opened.catch(() => undefined); // not an unhandled rejection if nobody reads
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
    this.#open(EMPTY); // ends pending pulls
    return DONE;
  }
}
