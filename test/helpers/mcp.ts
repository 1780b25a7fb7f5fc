import { type Clock, sleepOn } from "../../src/policies/clock.js";

/** A clock that moves only when a test advances it. */
export interface HandClock extends Clock {
  /** Advances the time and runs due timers in order. */
  move(ms: number): void;
  /** Time until the next timer; undefined if there is none. */
  readonly next: number | undefined;
}

export function handClock(): HandClock {
  let now = 0;
  const due = new Set<{ readonly at: number; readonly run: () => void }>();
  const first = () => [...due].toSorted((a, b) => a.at - b.at)[0];
  const clock: HandClock = {
    now: () => now,
    after(ms, run) {
      const entry = { at: now + ms, run };
      due.add(entry);
      return () => due.delete(entry);
    },
    sleep: (ms, cancel) => sleepOn(clock, ms, cancel),
    move(ms) {
      const end = now + ms;
      for (let entry = first(); entry !== undefined && entry.at <= end; entry = first()) {
        due.delete(entry);
        now = entry.at;
        entry.run();
      }
      now = end;
    },
    get next() {
      const entry = first();
      return entry === undefined ? undefined : entry.at - now;
    },
  };
  return clock;
}
