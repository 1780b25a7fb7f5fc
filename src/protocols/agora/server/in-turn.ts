import { AgentError, type Cancel } from "../../../envelope/index.js";

/** How long a client is asked to wait that would have to stand behind too many others. */
const COME_BACK_MS = 1_000;

/** What is done under one name is done one after the other, in the order it came. Who would stand behind too many is refused. */
export class InTurn {
  readonly #limit: number;
  readonly #lines = new Map<string, { length: number; last: Promise<unknown> }>();

  /** `limit`: how many may be in one line, the one at its head included. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  async run<T>(name: string, cancel: Cancel, work: (waited: boolean) => Promise<T>): Promise<T> {
    const line = this.#lines.get(name) ?? { length: 0, last: Promise.resolve() };
    if (line.length >= this.#limit) throw tooMany();
    const waited = line.length++ > 0;
    this.#lines.set(name, line);
    const done = line.last.then(() => {
      // Whoever gave up in the line is not served any more.
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

/** One thing at a time: what is under way must end first. */
export function tooMany(): AgentError {
  return new AgentError("overloaded", "earlier messages of this conversation are being answered; wait for their replies", {
    retryAfterMs: COME_BACK_MS,
  });
}
