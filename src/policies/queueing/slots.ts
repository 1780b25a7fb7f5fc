import type { AgentError, Call, Maybe } from "../../envelope/index.js";
import type { Clock } from "../clock.js";
import { cannotWait, deadlinePassed, overloadedError } from "../queue-errors.js";
import { PriorityQueue, type QueueEntry } from "./priority-queue.js";

export interface SlotLimits {
  readonly clock: Clock;
  /** Concurrent calls. */
  readonly concurrent: number;
  /** Queued calls. */
  readonly waiting: number;
  /** Longest time in the queue. */
  readonly waitMs: number;
  /** Waiting this long raises the priority by one level. */
  readonly agingMs: number;
}

/** A request for a slot. Exactly one of `granted` and `refused` is called, unless it leaves the queue first. */
export interface SlotTurn {
  readonly priority: number;
  readonly call: Call;
  granted(): void;
  refused(error: AgentError): void;
  /** The queue length changed because of this entry. */
  moved(): void;
}

interface Waiter extends QueueEntry {
  readonly turn: SlotTurn;
  /** Removes its timer and listener. */
  dispose(): void;
}

/** Priorities are clamped to ± this value, so that no caller can stay first in the queue. */
export const HIGHEST_PRIORITY = 10;

/** A number of slots, and the queue of calls waiting for one. */
export class Slots {
  readonly #limits: SlotLimits;
  readonly #queue = new PriorityQueue<Waiter>();
  #arrivals = 0;
  #running = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /** Takes a free slot. There is none while calls are queued. */
  take(): boolean {
    if (this.#running >= this.#limits.concurrent) return false;
    this.#running += 1;
    return true;
  }

  /** Passes the slot to the next queued call. */
  free(): void {
    const waiter = this.#queue.next();
    if (waiter === undefined) {
      this.#running -= 1;
      return;
    }
    waiter.dispose();
    waiter.turn.moved();
    waiter.turn.granted();
  }

  /** Joins the queue. The returned function leaves it silently. */
  wait(turn: SlotTurn): () => void {
    const refusal = this.#refusal(turn.call);
    if (refusal !== undefined) {
      turn.refused(refusal);
      return () => undefined;
    }
    const waiter: Waiter = { rank: this.#rank(turn), arrival: this.#arrivals++, index: -1, turn, dispose: () => undefined };
    this.#queue.join(waiter);
    turn.moved();
    this.#watch(waiter);
    return () => this.#leave(waiter);
  }

  #refusal(call: Call): Maybe<AgentError> {
    const { clock, waiting } = this.#limits;
    return cannotWait(call, clock) ?? (this.#queue.length < waiting ? undefined : full(`${waiting} calls are already queued`));
  }

  /**
   * All queued calls age at the same rate, so their relative order never changes and the virtual arrival time
   * (arrival minus priority) is enough to order them.
   */
  #rank({ priority }: SlotTurn): number {
    const level = Number.isFinite(priority) ? Math.max(-HIGHEST_PRIORITY, Math.min(HIGHEST_PRIORITY, priority)) : 0;
    return this.#limits.clock.now() - level * this.#limits.agingMs;
  }

  #watch(waiter: Waiter): void {
    const { clock, waitMs } = this.#limits;
    const { call, refused } = waiter.turn;
    const leftMs = call.deadline === undefined ? Number.POSITIVE_INFINITY : call.deadline - clock.now();
    const refuse = (error: AgentError): void => {
      this.#leave(waiter);
      refused(error);
    };
    const cancelTimer = clock.after(Math.min(waitMs, leftMs), () =>
      refuse(leftMs <= waitMs ? deadlinePassed() : full(`no slot became free within ${waitMs} ms`)),
    );
    const forget = call.cancel.onCancel(refuse);
    waiter.dispose = () => {
      cancelTimer();
      forget();
    };
  }

  #leave(waiter: Waiter): void {
    this.#queue.leave(waiter);
    waiter.dispose();
    waiter.turn.moved();
  }
}

function full(why: string): AgentError {
  return overloadedError(`too many calls: ${why}`);
}
