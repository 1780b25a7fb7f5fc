import type { AgentError, Call, Maybe } from "../../envelope/index.js";
import type { Clock } from "../clock.js";
import { cannotWait, tooLate, tooMany } from "../refused-turn.js";
import { type InLine, WaitingLine } from "./waiting-line.js";

export interface SlotLimits {
  readonly clock: Clock;
  /** At the same time. */
  readonly concurrent: number;
  /** In the line behind them. */
  readonly waiting: number;
  /** In the line at most. */
  readonly waitMs: number;
  /** So much waiting is worth one level of priority. */
  readonly agingMs: number;
}

/** One who asks for a slot. Exactly one of the two is called, unless it leaves the line before. */
export interface SlotTurn {
  readonly priority: number;
  readonly call: Call;
  granted(): void;
  refused(error: AgentError): void;
  /** The line is longer or shorter by this one. */
  moved(): void;
}

interface Waiter extends InLine {
  readonly turn: SlotTurn;
  /** Leaves no timer and no listener behind. */
  letGo(): void;
}

/** Priorities from the wire are taken between its negative and itself: nobody buys the front of the line for good. */
export const HIGHEST_PRIORITY = 10;

/** A number of places, and the line of those who wait for one. */
export class Slots {
  readonly #limits: SlotLimits;
  readonly #line = new WaitingLine<Waiter>();
  #arrivals = 0;
  #running = 0;

  constructor(limits: SlotLimits) {
    this.#limits = limits;
  }

  get running(): number {
    return this.#running;
  }

  get waiting(): number {
    return this.#line.length;
  }

  /** Takes a free slot. When somebody waits there is none. */
  take(): boolean {
    if (this.#running >= this.#limits.concurrent) return false;
    this.#running += 1;
    return true;
  }

  /** Hands the slot to whose turn it is. */
  free(): void {
    const waiter = this.#line.next();
    if (waiter === undefined) {
      this.#running -= 1;
      return;
    }
    waiter.letGo();
    waiter.turn.moved();
    waiter.turn.granted();
  }

  /** Waits in line. The returned function leaves it without a word. */
  wait(turn: SlotTurn): () => void {
    const refusal = this.#refusal(turn.call);
    if (refusal !== undefined) {
      turn.refused(refusal);
      return () => undefined;
    }
    const waiter: Waiter = { rank: this.#rank(turn), arrival: this.#arrivals++, place: -1, turn, letGo: () => undefined };
    this.#line.join(waiter);
    turn.moved();
    this.#watch(waiter);
    return () => this.#leave(waiter);
  }

  #refusal(call: Call): Maybe<AgentError> {
    const { clock, waiting } = this.#limits;
    return cannotWait(call, clock) ?? (this.#line.length < waiting ? undefined : full(`already ${waiting} calls wait`));
  }

  /**
   * Whoever waits grows in priority, all at the same pace; so the order between two never changes, and the moment at
   * which each would have arrived without its priority says it all.
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
    const takeBack = clock.after(Math.min(waitMs, leftMs), () =>
      refuse(leftMs <= waitMs ? tooLate() : full(`no place came free within ${waitMs} ms`)),
    );
    const forget = call.cancel.onCancel(refuse);
    waiter.letGo = () => {
      takeBack();
      forget();
    };
  }

  #leave(waiter: Waiter): void {
    this.#line.leave(waiter);
    waiter.letGo();
    waiter.turn.moved();
  }
}

function full(why: string): AgentError {
  return tooMany(`too much is under way: ${why}`);
}
