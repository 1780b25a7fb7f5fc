import { AgentError, type Cancel } from "../../../envelope/index.js";

/** The retry delay for a client that was rejected because the queue is full. */
const COME_BACK_MS = 1_000;

/** Runs operations with the same key one after the other, in order. Rejects if the queue of a key is full. */
export class SerialQueue {
  readonly #limit: number;
  readonly #lines = new Map<string, { length: number; last: Promise<unknown> }>();

  /** `limit`: the maximum queue length, including the running operation. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  async run<T>(name: string, cancel: Cancel, work: (waited: boolean) => Promise<T>): Promise<T> {
    const line = this.#lines.get(name) ?? { length: 0, last: Promise.resolve() };
    if (line.length >= this.#limit) throw tooMany();
    const waited = line.length++ > 0;
    this.#lines.set(name, line);
    const done = line.last.then(() => {
      // Cancelled while waiting.
      if (cancel.reason !== undefined) throw cancel.reason;
      return work(waited);
    });
    line.last = done.catch(() => undefined);
    try {
      return await done;
    } finally {
      if (--line.length === 0) this.#lines.delete(name);
    }
  }
}

/** Waits for the previous operation to end. */
export function tooMany(): AgentError {
  return new AgentError("overloaded", "too many messages of this conversation are waiting; retry after their replies", {
    retryAfterMs: COME_BACK_MS,
  });
}
