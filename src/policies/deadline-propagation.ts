import type { Layer, Maybe, Operation } from "../envelope/index.js";
import type { Clock } from "./clock.js";
import { deadline } from "./deadline.js";

/** Options of `deadlinePropagation`. */
export interface DeadlinePropagationOptions {
  /** The time source. */
  readonly clock: Clock;
  /**
   * Extra wait beyond `ttlMs`: the peer counts from when the message arrives, and its own
   * deadline error says more than ours. Default: 500 ms.
   */
  readonly graceMs?: Maybe<number>;
}

const GRACE_MS = 500;
/** Longer than any timer: no limit. */
const LONGEST_TTL_MS = Number.MAX_SAFE_INTEGER;

/**
 * Propagates the deadline of a call: the remaining time becomes the message's `ttlMs` where the message has
 * none or a longer one, so that the peer stops in time over any protocol. Conversely, the `ttlMs`
 * of a message limits the wait for its answer. Use it inside retry, so that each attempt carries the remaining time.
 */
export function deadlinePropagation({ clock, graceMs = GRACE_MS }: DeadlinePropagationOptions): Layer {
  const limited = deadline(Number.POSITIVE_INFINITY, clock);
  return (next) => {
    const withinDeadline = limited(next);
    return function propagating(operation, call) {
      const ttlMs = operation.kind === "send" ? operation.envelope.context.ttlMs : undefined;
      const nowMs = clock.now();
      const leftMs = call.deadline === undefined ? undefined : call.deadline - nowMs;
      if (ttlMs !== undefined && ttlMs > 0 && ttlMs <= (leftMs ?? LONGEST_TTL_MS))
        return withinDeadline(operation, call.derive({ deadline: nowMs + ttlMs + graceMs }));
      if (leftMs === undefined) return next(operation, call);
      return withinDeadline(leftMs > 0 ? withRemainingTtl(operation, leftMs) : operation, call);
    };
  };
}

/** An invalid `ttlMs`, such as zero, is left for the peer to reject. */
function withRemainingTtl(operation: Operation, leftMs: number): Operation {
  if (operation.kind !== "send") return operation;
  const { envelope } = operation;
  const { ttlMs = Number.POSITIVE_INFINITY } = envelope.context;
  if (!(ttlMs > leftMs)) return operation;
  return { ...operation, envelope: { ...envelope, context: { ...envelope.context, ttlMs: Math.max(1, Math.floor(leftMs)) } } };
}
