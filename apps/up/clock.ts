import { type Clock, systemClock as clock } from "../../src/public/policies.js";

/** The time source of a network. */
export interface UpClock extends Pick<Clock, "now" | "after"> {
  /** From 0 up to 1. */
  random(): number;
}

/** The system's time, timers and random numbers. */
export const systemClock: UpClock = { now: clock.now, after: clock.after, random: Math.random };

/** A wait that can be interrupted. */
export class Pause {
  readonly #clock: UpClock;
  #wake: () => void = () => undefined;

  constructor(clock: UpClock) {
    this.#clock = clock;
  }

  /** Resolves after the time, or when interrupted. Without a time, only an interrupt ends it. */
  wait(ms?: number): Promise<void> {
    return new Promise((resolve) => {
      const takeBack = ms === undefined ? undefined : this.#clock.after(ms, () => this.wake());
      this.#wake = () => {
        takeBack?.();
        resolve();
      };
    });
  }

  wake(): void {
    this.#wake();
  }
}
