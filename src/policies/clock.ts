import { AgentError, type Cancel } from "../envelope/index.js";

/** Where policies take their time from: the system in production, `fakeClock` in tests. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs once after `ms`. The returned function takes it back. */
  after(ms: number, run: () => void): () => void;
  /** Resolves after `ms`; rejects with the reason as soon as `cancel` is cancelled. */
  sleep(ms: number, cancel?: Cancel): Promise<void>;
}

/** The longest wait a platform timer can hold; it fires at once for a longer one. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: Date.now,
  after(ms, run) {
    let timer: ReturnType<typeof setTimeout>;
    const arm = (leftMs: number): void => {
      timer =
        leftMs > LONGEST_TIMER_MS
          ? setTimeout(() => arm(leftMs - LONGEST_TIMER_MS), LONGEST_TIMER_MS)
          : setTimeout(run, Math.max(0, leftMs));
    };
    arm(ms);
    return () => clearTimeout(timer);
  },
  sleep: (ms, cancel) => sleepOn(systemClock, ms, cancel),
};

export interface FakeClock extends Clock {
  /** Moves the time on; what falls due runs in order, and what it sets going gets its turn before the next. */
  advance(ms: number): Promise<void>;
  /** Timers that were set and have neither run nor been taken back. */
  readonly waiting: number;
}

interface Alarm {
  readonly atMs: number;
  readonly run: () => void;
}

/** A clock that stands still until it is told to go on. */
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

/** Every promise chain that can go on without time or network has gone on. */
function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

function sleepOn(clock: Clock, ms: number, cancel: Cancel | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (cancel?.cancelled) {
      reject(cancel.reason ?? new AgentError("cancelled", "the wait was cancelled"));
      return;
    }
    let forget = (): void => undefined;
    const takeBack = clock.after(ms, () => {
      forget();
      resolve();
    });
    if (cancel === undefined) return;
    forget = cancel.onCancel((reason) => {
      takeBack();
      reject(reason);
    });
  });
}
