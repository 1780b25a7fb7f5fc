import { AgentError } from "../../../envelope/index.js";

/** The longest a timer can wait; who waits longer than that waits for ever. */
const LONGEST_MS = 0x7fffffff;

/** The time a caller gives its call. Whoever works on the call may be deaf to it; the answer comes in time all the same. */
export interface CallDeadline {
  /** The outcome of the work, or AgentError `deadline` when the time is over first. */
  limit<T>(work: Promise<T>): Promise<T>;
  /** The call is over, and nobody waits any longer. */
  end(): void;
}

export const NO_DEADLINE: CallDeadline = Object.freeze({ limit: <T>(work: Promise<T>) => work, end: () => undefined });

export function deadlineAfter(ms: number): CallDeadline {
  let giveUp: ((reason: AgentError) => void) | undefined;
  let over = false;
  const tooLate = (): AgentError => new AgentError("deadline", `the answer did not come within the ${ms} ms its caller gave it`);
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
