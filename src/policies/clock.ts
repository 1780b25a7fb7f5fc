import { AgentError, type Cancel } from "../envelope/index.js";

/** The time source of policies: the system in production, `fakeClock` in tests. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Runs once after `ms`. The returned function cancels it. */
  after(ms: number, run: () => void): () => void;
  /** Resolves after `ms`; rejects with the reason as soon as `cancel` is cancelled. */
  sleep(ms: number, cancel?: Cancel): Promise<void>;
}

/** The longest wait a platform timer can hold; it fires at once for a longer one. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The system's clock. A pending wait keeps the process alive. */
export const systemClock: Clock = createSystemClock(true);

/** The system's clock, for waits that must not keep the process alive. */
export const backgroundClock: Clock = createSystemClock(false);

function createSystemClock(keepsProcessAlive: boolean): Clock {
  const clock: Clock = {
    now: Date.now,
    after(ms, run) {
      let timer: ReturnType<typeof setTimeout>;
      const arm = (leftMs: number): void => {
        const rest = leftMs - LONGEST_TIMER_MS;
        timer = rest > 0 ? setTimeout(() => arm(rest), LONGEST_TIMER_MS) : setTimeout(run, Math.max(0, leftMs));
        if (!keepsProcessAlive) timer.unref();
      };
      arm(ms);
      return () => clearTimeout(timer);
    },
    sleep: (ms, cancel) => sleepOn(clock, ms, cancel),
  };
  return clock;
}

/** `Clock.sleep` in terms of `Clock.after`. */
export function sleepOn(clock: Clock, ms: number, cancel: Cancel | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (cancel?.cancelled) {
      reject(cancel.reason ?? new AgentError("cancelled", "the wait was cancelled"));
      return;
    }
    let forget = (): void => undefined;
    const cancelTimer = clock.after(ms, () => {
      forget();
      resolve();
    });
    if (cancel === undefined) return;
    forget = cancel.onCancel((reason) => {
      cancelTimer();
      reject(reason);
    });
  });
}
