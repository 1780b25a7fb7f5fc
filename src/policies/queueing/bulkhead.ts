import type { Call, Layer, Maybe, Operation, Reply } from "../../envelope/index.js";
import { around } from "../around.js";
import type { Clock } from "../clock.js";
import { noteFor, type PolicyContext } from "../notes.js";
import { deferredReply } from "../replies/deferred-reply.js";
import { wantsStream } from "../replies/shape.js";
import { Slots } from "./slots.js";

/** Options of `bulkhead`. */
export interface BulkheadOptions extends PolicyContext {
  /** The time source. */
  readonly clock: Clock;
  /** Concurrent calls to this destination. Default: 64. */
  readonly concurrent?: Maybe<number>;
  /** Queued calls. Default: 256. */
  readonly waiting?: Maybe<number>;
  /** Longest time in the queue. Default: 5,000. */
  readonly waitMs?: Maybe<number>;
  /** Waiting this long raises the priority by one level. Default: 500. */
  readonly agingMs?: Maybe<number>;
  /** Additional slots for `task.cancel`, `task.get` and `ping` only. Default: 8. */
  readonly reserved?: Maybe<number>;
}

/** Current state, for the dashboard and metrics. */
export interface BulkheadSnapshot {
  /** Calls in flight. */
  readonly running: number;
  /** Queued calls. */
  readonly waiting: number;
}

/** A bulkhead: its layer and its current load. */
export interface Bulkhead {
  /** The policy, to be put around a handler. */
  readonly layer: Layer;
  /** The current load. */
  state(): BulkheadSnapshot;
}

const CONCURRENT = 64;
const WAITING = 256;
const WAIT_MS = 5_000;
const AGING_MS = 500;
const RESERVED = 8;

/**
 * Limits concurrent and queued calls to one destination, so that one slow peer cannot exhaust
 * resources. Queued calls are ordered by `context.priority`, then by arrival; one level of priority equals `agingMs` of
 * waiting, so no call starves. Excess calls are rejected with `overloaded` and not sent. A stream
 * holds its slot until it ends; a send with delivery `accepted` until it is accepted.
 */
export function bulkhead(options: BulkheadOptions): Bulkhead {
  const { clock, concurrent = CONCURRENT, waiting = WAITING, waitMs = WAIT_MS, agingMs = AGING_MS } = options;
  const common = new Slots({ clock, concurrent, waiting, waitMs, agingMs });
  const reserve = new Slots({ clock, concurrent: options.reserved ?? RESERVED, waiting, waitMs, agingMs });
  const note = noteFor(options);
  const state = (): BulkheadSnapshot => ({
    running: common.running + reserve.running,
    waiting: common.waiting + reserve.waiting,
  });
  const layer: Layer = (next) => {
    const holding = around<Held>({
      begin: (operation, call) => new Held(isUrgent(operation) ? reserve : common, operation, call),
      event: (held) => held.event(),
      end: (held) => held.end(),
    })(next);
    return function admitted(operation, call): Reply {
      const slots = isUrgent(operation) ? reserve : common;
      if (slots.take()) return holding(operation, call);
      const deferred = deferredReply(operation, () => leave());
      const leave = slots.wait({
        priority: priorityOf(operation),
        call,
        granted: () => deferred.begin(() => holding(operation, call)),
        refused: (error) => deferred.fail(error),
        moved: () => note(operation, call, { kind: "queue", queue: "bulkhead", depth: state().waiting }),
      });
      return deferred.reply;
    };
  };
  return { layer, state };
}

/** Operations that stop or inspect work must pass under full load. */
function isUrgent({ kind }: Operation): boolean {
  return kind === "task.cancel" || kind === "task.get" || kind === "ping";
}

function priorityOf(operation: Operation): number {
  return operation.kind === "send" ? (operation.envelope.context.priority ?? 0) : 0;
}

/** A slot that was taken, given back exactly once. */
class Held {
  readonly #slots: Slots;
  readonly #untilAccepted: boolean;
  readonly #forget: Maybe<() => void>;
  #held = true;

  constructor(slots: Slots, operation: Operation, call: Call) {
    this.#slots = slots;
    this.#untilAccepted = operation.kind === "send" && operation.delivery === "accepted";
    // A cancelled reader may never pull or stop again: release its slot.
    if (wantsStream(operation)) this.#forget = call.cancel.onCancel(() => this.end());
  }

  event(): void {
    if (this.#untilAccepted) this.end();
  }

  end(): void {
    if (!this.#held) return;
    this.#held = false;
    this.#forget?.();
    this.#slots.free();
  }
}
