import { AgentError } from "../../../envelope/index.js";

/** The maximum delay of a timer; longer deadlines are ignored. */
const LONGEST_MS = 0x7fffffff;

/** The deadline of a call. The response is sent in time even if the handler ignores cancellation. */
export interface CallDeadline {
  /** The outcome of the work, or AgentError `deadline` if the time is up first. */
  limit<T>(work: Promise<T>): Promise<T>;
  /** Releases the timer. */
  end(): void;
}

export const NO_DEADLINE: CallDeadline = Object.freeze({ limit: <T>(work: Promise<T>) => work, end: () => undefined });

export function deadlineAfter(ms: number): CallDeadline {
  let giveUp: ((reason: AgentError) => void) | undefined;
  let over = false;
  const tooLate = (): AgentError => new AgentError("deadline", `no answer within the deadline of ${ms} ms`);
  const timer = setTimeout(
    () => {
      over = true;
      giveUp?.(tooLate());
    },
    Math.min(ms, LONGEST_MS),
  );
  return {
    limit: (work) =>
      new Promise((resolve, reject) => {
        if (over) reject(tooLate());
        giveUp = reject;
        work.then(resolve, reject);
      }),
    end: () => clearTimeout(timer),
  };
}
