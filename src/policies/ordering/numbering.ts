import { type Layer, type Maybe, RecentMap } from "../../envelope/index.js";
import { isOrdered, type OrderedBy, orderKey } from "./order-key.js";
import { SEQUENCE_KEY, withSequenceNumber } from "./sequence-number.js";

/** Options of `numbering`. */
export interface NumberingOptions {
  /** What is ordered: sessions or traces. */
  readonly by: OrderedBy;
  /** Creates sequence ids; they must be unique across senders. */
  readonly newId: () => string;
  /** Sessions or traces whose last number is kept; an evicted one starts a new sequence. Default: 10,000. */
  readonly keys?: Maybe<number>;
}

const KEYS = 10_000;

/**
 * The sender's half of `reorder`: numbers the messages of each session or trace, over any protocol and connection. Use it
 * outside retry and hedging, so that a repeated message keeps its number. Messages that name a task, have no session (or
 * trace) or already have a number pass unchanged.
 */
export function numbering({ by, newId, keys = KEYS }: NumberingOptions): Layer {
  const sequences = new RecentMap<{ readonly stream: string; last: number }>(keys);
  return (next) =>
    function numbered(operation, call) {
      if (!isOrdered(operation) || operation.envelope.metadata?.[SEQUENCE_KEY] !== undefined) return next(operation, call);
      const { envelope } = operation;
      const key = orderKey(by, envelope, call);
      if (key === undefined) return next(operation, call);
      const sequence = sequences.get(key) ?? { stream: newId(), last: 0 };
      if (sequence.last === 0) sequences.set(key, sequence);
      sequence.last++;
      const { stream, last: number } = sequence;
      return next({ ...operation, envelope: withSequenceNumber(envelope, { stream, number }) }, call);
    };
}
