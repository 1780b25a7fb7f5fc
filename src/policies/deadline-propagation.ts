import type { Layer, Maybe, Operation } from "../envelope/index.js";
import type { Clock } from "./clock.js";
import { deadline } from "./deadline.js";

export interface DeadlinePropagationOptions {
  readonly clock: Clock;
  /**
   * How much longer than its `ttlMs` an answer is waited for: the peer counts from when the message arrives, and its own
   * word that the time is up says more than ours. Default: 500 ms.
   */
  readonly graceMs?: Maybe<number>;
}

const GRACE_MS = 500;
/** A time that no timer could wait for is no limit. */
const LONGEST_TTL_MS = Number.MAX_SAFE_INTEGER;

/**
 * The time limit of a call travels with its message: what is left of the deadline becomes `ttlMs` where the message has
 * none, or a longer one, and whoever works on it stops in time, over whatever protocol. The other way round the `ttlMs`
 * of a message limits the wait for its answer. Inside retry, so that each try says what is left for it.
 */
export function deadlinePropagation({ clock, graceMs = GRACE_MS }: DeadlinePropagationOptions): Layer {
  const limited = deadline(Number.POSITIVE_INFINITY, clock);
  return (next) => {
    const withinDeadline = limited(next);
    return function travelling(operation, call) {
      const ttlMs = operation.kind === "send" ? operation.envelope.context.ttlMs : undefined;
      const nowMs = clock.now();
      const leftMs = call.deadline === undefined ? undefined : call.deadline - nowMs;
      if (ttlMs !== undefined && ttlMs > 0 && ttlMs <= (leftMs ?? LONGEST_TTL_MS))
        return withinDeadline(operation, call.derive({ deadline: nowMs + ttlMs + graceMs }));
      if (leftMs === undefined) return next(operation, call);
      return withinDeadline(leftMs > 0 ? sayingWhatIsLeft(operation, leftMs) : operation, call);
    };
  };
}

/** A limit that is none, such as zero, is left for the peer to refuse. */
function sayingWhatIsLeft(operation: Operation, leftMs: number): Operation {
  if (operation.kind !== "send") return operation;
  const { envelope } = operation;
  const { ttlMs = Number.POSITIVE_INFINITY } = envelope.context;
  if (!(ttlMs > leftMs)) return operation;
  return { ...operation, envelope: { ...envelope, context: { ...envelope.context, ttlMs: Math.max(1, Math.floor(leftMs)) } } };
}
