import type { Layer, Maybe, Reply } from "../../envelope/index.js";
import type { Clock } from "../clock.js";
import { noteFor, type PolicyContext } from "../notes.js";
import { cannotWait, overloadedError } from "../queue-errors.js";
import { isOrdered, type OrderedBy, orderKey } from "./order-key.js";
import { QueuedSend } from "./queued-send.js";
import { type Send, startSend } from "./start-send.js";

/** Options of `ordering`. */
export interface OrderingOptions extends PolicyContext {
  /** What is ordered: sessions or traces. */
  readonly by: OrderedBy;
  /** The time source. */
  readonly clock: Clock;
  /** Queued messages per session or trace. Default: 100. */
  readonly waiting?: Maybe<number>;
  /** Sessions or traces with a message in flight. Default: 1,000. */
  readonly keys?: Maybe<number>;
  /** Sessions or traces that may send concurrently; the others are queued by priority. Default: all. */
  readonly atOnce?: Maybe<number>;
}

const WAITING = 100;
const KEYS = 1_000;

/**
 * Sends the messages of one session or trace in order of arrival: each starts when the previous one was accepted (its first
 * event or its answer arrived), has failed, or was abandoned by its caller. The rest of a stream is not waited for. Messages
 * that name a task, messages without a session (or trace), and other operations are not queued.
 */
export function ordering(options: OrderingOptions): Layer {
  const lines = new Lines(options);
  return (next) =>
    function ordered(operation, call) {
      const key = isOrdered(operation) ? orderKey(options.by, operation.envelope, call) : undefined;
      if (key === undefined || !isOrdered(operation)) return next(operation, call);
      return lines.enter(key, { next, operation, call });
    };
}

/** One session or trace with a message in flight or queued. */
interface Line {
  readonly key: string;
  /** In order of arrival. A set, because cancelled messages leave from the middle. */
  readonly waiting: Set<QueuedSend>;
  busy: boolean;
}

class Lines {
  readonly #options: OrderingOptions;
  readonly #note: ReturnType<typeof noteFor>;
  readonly #lines = new Map<string, Line>();
  readonly #atOnce: number;
  #busy = 0;
  #depth = 0;

  constructor(options: OrderingOptions) {
    this.#options = options;
    this.#note = noteFor(options);
    this.#atOnce = options.atOnce ?? Number.POSITIVE_INFINITY;
  }

  enter(key: string, send: Send): Reply {
    const { clock, keys = KEYS, waiting = WAITING } = this.#options;
    const known = this.#lines.get(key);
    if (known === undefined && this.#lines.size >= keys)
      return refused(`messages of at most ${keys} sessions or traces are ordered at a time`);
    const line = known ?? this.#open(key);
    if (!line.busy && line.waiting.size === 0 && this.#busy < this.#atOnce) {
      this.#take(line);
      return startSend(send, () => this.#release(line));
    }
    const problem = cannotWait(send.call, clock);
    if (problem === undefined && line.waiting.size < waiting) return this.#wait(line, send);
    this.#closeIfEmpty(line);
    return problem === undefined
      ? refused(`at most ${waiting} messages are queued per session or trace`)
      : Promise.reject(problem);
  }

  #open(key: string): Line {
    const line: Line = { key, waiting: new Set(), busy: false };
    this.#lines.set(key, line);
    return line;
  }

  #closeIfEmpty(line: Line): void {
    if (!line.busy && line.waiting.size === 0) this.#lines.delete(line.key);
  }

  #wait(line: Line, send: Send): Reply {
    const held = new QueuedSend(send, this.#options.clock, () => {
      line.waiting.delete(held);
      this.#changed(-1, held);
      this.#closeIfEmpty(line);
    });
    line.waiting.add(held);
    this.#changed(1, held);
    return held.reply;
  }

  #take(line: Line): void {
    line.busy = true;
    this.#busy++;
  }

  #release(line: Line): void {
    line.busy = false;
    this.#busy--;
    // Moved to the end, so that queues of equal priority take turns.
    this.#lines.delete(line.key);
    if (line.waiting.size > 0) this.#lines.set(line.key, line);
    // Without a limit only this queue was freed.
    const next = this.#atOnce === Number.POSITIVE_INFINITY ? line : this.#mostUrgent();
    if (next !== undefined) this.#beginFirst(next);
  }

  #beginFirst(line: Line): void {
    const first = firstOf(line);
    if (first === undefined) return;
    line.waiting.delete(first);
    this.#take(line);
    this.#changed(-1, first);
    first.begin(() => this.#release(line));
  }

  /** Only the head of a queue can be chosen: priority never overtakes within one session. Among equals the longest waiting wins. */
  #mostUrgent(): Maybe<Line> {
    let found: Maybe<Line>;
    for (const line of this.#lines.values()) {
      if (line.busy || line.waiting.size === 0) continue;
      if (found === undefined || priorityOf(line) > priorityOf(found)) found = line;
    }
    return found;
  }

  #changed(by: 1 | -1, { send: { operation, call } }: QueuedSend): void {
    this.#depth += by;
    this.#note(operation, call, { kind: "queue", queue: "ordering", depth: this.#depth });
  }
}

function firstOf({ waiting }: Line): Maybe<QueuedSend> {
  const [first] = waiting;
  return first;
}

function priorityOf(line: Line): number {
  return firstOf(line)?.send.operation.envelope.context.priority ?? 0;
}

function refused(why: string): Promise<never> {
  return Promise.reject(overloadedError(why));
}
