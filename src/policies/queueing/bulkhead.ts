import type { Call, Layer, Maybe, Operation, Reply } from "../../envelope/index.js";
import { around } from "../around.js";
import type { Clock } from "../clock.js";
import { noteFor, type PolicyContext } from "../note-for.js";
import { laterReply } from "../replies/later-reply.js";
import { wantsStream } from "../replies/shape.js";
import { Slots } from "./slots.js";

export interface BulkheadOptions extends PolicyContext {
  readonly clock: Clock;
  /** Calls to this destination at the same time. Default: 64. */
  readonly concurrent?: Maybe<number>;
  /** Calls that wait for a place. Default: 256. */
  readonly waiting?: Maybe<number>;
  /** The longest wait for a place. Default: 5,000. */
  readonly waitMs?: Maybe<number>;
  /** So much waiting is worth one level of priority. Default: 500. */
  readonly agingMs?: Maybe<number>;
  /** Places beside the others, for `task.cancel`, `task.get` and `ping` alone. Default: 8. */
  readonly reserved?: Maybe<number>;
}

/** For the page and for metrics. */
export interface BulkheadSnapshot {
  readonly running: number;
  readonly waiting: number;
}

export interface Bulkhead {
  readonly layer: Layer;
  state(): BulkheadSnapshot;
}

const CONCURRENT = 64;
const WAITING = 256;
const WAIT_MS = 5_000;
const AGING_MS = 500;
const RESERVED = 8;

/**
 * At most so many calls at the same time to one destination, and so many that wait, so that one slow peer cannot take
 * everything. Those who wait go by `context.priority`, then by arrival; one level of priority is worth `agingMs` of
 * waiting, so nobody waits for ever behind others. What is too much is refused with `overloaded`, nothing sent. A stream
 * holds its place to its end, a send that only wants to be accepted until it is.
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
      const later = laterReply(operation, () => leave());
      const leave = slots.wait({
        priority: priorityOf(operation),
        call,
        granted: () => later.begin(() => holding(operation, call)),
        refused: (error) => later.fail(error),
        moved: () => note(operation, call, { kind: "queue", queue: "bulkhead", depth: state().waiting }),
      });
      return later.reply;
    };
  };
  return { layer, state };
}

/** What stops work or asks after it must get through when everything is full: it is how things get better. */
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
    // A reader that is gone may never pull again, nor stop: its place must not be lost with it.
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
