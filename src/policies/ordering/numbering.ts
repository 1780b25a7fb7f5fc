import { type Layer, type Maybe, RecentMap } from "../../envelope/index.js";
import { isOrdered, type OrderedBy, orderKey } from "./order-key.js";
import { SEQUENCE_KEY, withSequenceNumber } from "./sequence-number.js";

export interface NumberingOptions {
  readonly by: OrderedBy;
  /** Names a sequence: no two senders may ever make the same one. */
  readonly newId: () => string;
  /** Sessions or traces whose last number is kept; one that was forgotten begins a new sequence. Default: 10,000. */
  readonly keys?: Maybe<number>;
}

const KEYS = 10_000;

/**
 * The sender's half of `reorder`: each message of a session, or of a trace, goes out with the next number of its sequence,
 * by whatever protocol and connection. Stands outside retry and hedging, so that a repeated message keeps its number.
 * A message that names a task, that has no session (or trace), or that has a number already passes as it is.
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
