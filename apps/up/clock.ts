import { type Clock, systemClock as clock } from "../../src/public/policies.js";

/** Where a network takes its time from. */
export interface UpClock extends Pick<Clock, "now" | "after"> {
  /** From 0 up to 1. */
  random(): number;
}

export const systemClock: UpClock = { now: clock.now, after: clock.after, random: Math.random };

/** A wait that somebody can cut short. */
export class Pause {
  readonly #clock: UpClock;
  #wake: () => void = () => undefined;

  constructor(clock: UpClock) {
    this.#clock = clock;
  }

  /** Resolves when the time is over, or when it is woken. Without a time only the latter ends it. */
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
