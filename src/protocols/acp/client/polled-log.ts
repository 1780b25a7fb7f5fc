import { AgentError, type Call, type Cursor, type Maybe } from "../../../envelope/index.js";
import type { StreamItem } from "../../../transport/peer-events.js";

/** The polling delay: reset by new events, doubled otherwise. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 2_000;

export interface LogOptions {
  /** The complete log at this time. */
  read(): Promise<readonly unknown[]>;
  readonly first: readonly unknown[];
  /** The number of events already delivered. */
  readonly delivered: number;
  readonly call: Call;
  now(): number;
}

/**
 * The events of a run on a server without event streams. ACP returns the complete log at any time, so it is polled and delivered
 * events are dropped. The cursor is the number of events delivered. Stopping early ends the wait at once.
 */
export class PolledLog implements AsyncIterator<StreamItem> {
  readonly #options: LogOptions;
  #log: readonly unknown[];
  #delivered: number;
  #waitMs = FIRST_WAIT_MS;
  #left = false;
  #wake: (() => void) | undefined;

  constructor(options: LogOptions) {
    this.#options = options;
    this.#log = options.first;
    this.#delivered = Math.min(options.delivered, options.first.length);
  }

  async next(): Promise<IteratorResult<StreamItem, void>> {
    while (!this.#left) {
      const item = this.#log[this.#delivered];
      if (item !== undefined) {
        this.#delivered++;
        return { done: false, value: { item, cursor: cursorOf(this.#delivered) } };
      }
      if (endsWith(this.#log[this.#delivered - 1])) break;
      await this.#pause();
      if (!this.#left) await this.#readOn();
    }
    return { done: true, value: undefined };
  }

  async return(): Promise<IteratorResult<StreamItem, void>> {
    this.#left = true;
    this.#wake?.();
    return { done: true, value: undefined };
  }

  async #readOn(): Promise<void> {
    const log = await this.#options.read();
    if (log.length < this.#delivered) throw new AgentError("bad_peer", "the log of the run became shorter");
    this.#waitMs = log.length > this.#delivered ? FIRST_WAIT_MS : Math.min(this.#waitMs * 2, LONGEST_WAIT_MS);
    this.#log = log;
  }

  #pause(): Promise<void> {
    const { call, now } = this.#options;
    const leftMs = call.deadline === undefined ? Number.POSITIVE_INFINITY : call.deadline - now();
    if (leftMs <= 0) throw new AgentError("deadline", "the deadline of the call has passed", { sent: "maybe" });
    return new Promise((resolve, reject) => {
      const end = (settle: () => void): void => {
        clearTimeout(timer);
        takeOff();
        this.#wake = undefined;
        settle();
      };
      const timer = setTimeout(() => end(resolve), Math.min(this.#waitMs, leftMs));
      let takeOff = (): void => undefined;
      this.#wake = () => end(resolve);
      takeOff = call.cancel.onCancel((reason) => end(() => reject(reason)));
    });
  }
}

/** No events follow the end of a run. Events after a question belong to the call that answers it. */
function endsWith(event: unknown): boolean {
  const type = typeof event === "object" && event !== null && "type" in event ? event.type : undefined;
  return type === "run.completed" || type === "run.failed" || type === "run.cancelled" || type === "run.awaiting";
}

const MARK = "log-";

function cursorOf(delivered: number): Cursor {
  return `${MARK}${delivered}` as Cursor; // a cursor of this client
}

/** The number of events before a Koine cursor. Undefined for a cursor of the peer. */
export function deliveredAt(cursor: Maybe<Cursor>): Maybe<number> {
  return cursor !== undefined && /^log-\d{1,9}$/.test(cursor) ? Number(cursor.slice(MARK.length)) : undefined;
}
