import { AgentError, type Layer, type Maybe, RecentMap, type Reply } from "../../envelope/index.js";
import type { Clock } from "../clock.js";
import { noteFor, type PolicyContext } from "../notes.js";
import { overloadedError } from "../queue-errors.js";
import { isOrdered } from "./order-key.js";
import type { QueuedSend } from "./queued-send.js";
import { Sequence } from "./sequence.js";
import { type SequenceNumber, sequenceNumberOf } from "./sequence-number.js";
import type { Send } from "./start-send.js";

/** Options of `reorder`. */
export interface ReorderOptions extends PolicyContext {
  /** The time source. */
  readonly clock: Clock;
  /** Buffered messages per sequence while an earlier one is missing. Default: 64. */
  readonly buffer?: Maybe<number>;
  /** How long to wait for a missing message. Default: 2 s. */
  readonly waitMs?: Maybe<number>;
  /** Active sequences of all callers; as many idle ones are remembered. Default: 1,000. */
  readonly streams?: Maybe<number>;
  /** Active sequences of one caller. Default: 100. */
  readonly streamsPerCaller?: Maybe<number>;
}

const BUFFER = 64;
const WAIT_MS = 2_000;
const STREAMS = 1_000;
const STREAMS_PER_CALLER = 100;

/**
 * The receiver's half of `numbering`: starts numbered messages in order, over any protocol and connection; each starts when
 * the previous one was accepted, as in `ordering`. A number that does not arrive within `waitMs` is skipped and noted, and
 * rejected as `expired` if it arrives later. A number that arrives twice is `replayed`, unless both messages have the same
 * idempotency key: then the second gets the answer of the first. Messages without a number, or that name a task, are not
 * queued.
 */
export function reorder(options: ReorderOptions): Layer {
  const sequences = new Sequences(options);
  return (next) =>
    function reordered(operation, call) {
      if (!isOrdered(operation)) return next(operation, call);
      let position: Maybe<SequenceNumber>;
      try {
        position = sequenceNumberOf(operation.envelope);
      } catch (thrown) {
        return Promise.reject(AgentError.from(thrown));
      }
      return position === undefined ? next(operation, call) : sequences.enter(position, { next, operation, call });
    };
}

class Sequences {
  readonly #options: ReorderOptions;
  readonly #note: ReturnType<typeof noteFor>;
  readonly #busy = new Map<string, Sequence>();
  readonly #resting: RecentMap<Sequence>;
  readonly #busyOf = new Map<string, number>();
  #depth = 0;

  constructor(options: ReorderOptions) {
    this.#options = options;
    this.#note = noteFor(options);
    this.#resting = new RecentMap(options.streams ?? STREAMS);
  }

  enter({ stream, number }: SequenceNumber, send: Send): Reply {
    const { caller, agent } = send.call;
    // Keyed by caller, because the stream name is chosen by the caller.
    const key = JSON.stringify([caller.owner, agent, stream]);
    const sequence = this.#busy.get(key) ?? this.#wake(key, caller.owner);
    return sequence instanceof AgentError ? Promise.reject(sequence) : sequence.enter(number, send);
  }

  #wake(key: string, owner: string): Sequence | AgentError {
    const { streams = STREAMS, streamsPerCaller = STREAMS_PER_CALLER } = this.#options;
    const ofOwner = this.#busyOf.get(owner) ?? 0;
    if (this.#busy.size >= streams || ofOwner >= streamsPerCaller)
      return overloadedError("too many message sequences are active");
    const sequence = this.#resting.get(key) ?? this.#begin(key, owner);
    this.#resting.delete(key);
    this.#busy.set(key, sequence);
    this.#busyOf.set(owner, ofOwner + 1);
    return sequence;
  }

  #begin(key: string, owner: string): Sequence {
    const { clock, buffer = BUFFER, waitMs = WAIT_MS } = this.#options;
    const sequence: Sequence = new Sequence({
      clock,
      buffer,
      waitMs,
      changed: (by, held) => this.#changed(by, held),
      gap: (first, last, { send: { operation, call } }) => this.#note(operation, call, { kind: "gap", first, last, waitMs }),
      idle: () => this.#rest(key, owner, sequence),
    });
    return sequence;
  }

  #rest(key: string, owner: string, sequence: Sequence): void {
    if (!this.#busy.delete(key)) return;
    this.#resting.set(key, sequence);
    const left = (this.#busyOf.get(owner) ?? 1) - 1;
    if (left === 0) this.#busyOf.delete(owner);
    else this.#busyOf.set(owner, left);
  }

  #changed(by: 1 | -1, { send: { operation, call } }: QueuedSend): void {
    this.#depth += by;
    this.#note(operation, call, { kind: "queue", queue: "reorder", depth: this.#depth });
  }
}
