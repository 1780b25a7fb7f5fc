import { type Clock, sleepOn } from "../../src/policies/clock.js";

/** A clock under the control of a test. */
export interface FakeClock extends Clock {
  /** Advances the time. Due timers run in order; promises that one of them settles are processed before the next runs. */
  advance(ms: number): Promise<void>;
  /** Timers that have neither run nor been cancelled. */
  readonly waiting: number;
}

interface Alarm {
  readonly atMs: number;
  readonly run: () => void;
}

/** A clock that only moves when `advance` is called. */
export function fakeClock(startMs = 0): FakeClock {
  let nowMs = startMs;
  const alarms = new Set<Alarm>();
  const nextDue = (untilMs: number): Alarm | undefined => {
    let first: Alarm | undefined;
    for (const alarm of alarms) {
      if (alarm.atMs <= untilMs && (first === undefined || alarm.atMs < first.atMs)) first = alarm;
    }
    return first;
  };
  const clock: FakeClock = {
    now: () => nowMs,
    after(ms, run) {
      const alarm = { atMs: nowMs + Math.max(0, ms), run };
      alarms.add(alarm);
      return () => void alarms.delete(alarm);
    },
    sleep: (ms, cancel) => sleepOn(clock, ms, cancel),
    async advance(ms) {
      const untilMs = nowMs + ms;
      for (let due = nextDue(untilMs); due !== undefined; due = nextDue(untilMs)) {
        alarms.delete(due);
        nowMs = due.atMs;
        due.run();
        await settled();
      }
      nowMs = untilMs;
      await settled();
    },
    get waiting() {
      return alarms.size;
    },
  };
  return clock;
}

/** Resolves after every promise chain that needs neither time nor network has run. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
