import type { AgentEvent, Layer, Maybe } from "../envelope/index.js";
import { around, type Clock, type Outcome } from "../policies/index.js";
import { stateIn } from "../policies/task-id.js";

/** How a send ended for the one who waited. */
export interface CallOutcome {
  /** An answer came, and it was no task that failed. */
  readonly ok: boolean;
  /** Until the whole answer was there, or the failure. */
  readonly latencyMs: number;
  /** How long the caller would have waited. Undefined: without limit. */
  readonly deadlineMs: Maybe<number>;
}

export interface OutcomeOptions {
  readonly clock: Clock;
  readonly timeoutMs: Maybe<number>;
  tell(outcome: CallOutcome): void;
}

interface Begun {
  readonly atMs: number;
  readonly deadlineMs: Maybe<number>;
}

/** Outside every policy: tells how each send went. Looking things up is quick whoever answers, so only sends count. */
export function callOutcomes({ clock, timeoutMs, tell }: OutcomeOptions): Layer {
  return around<Begun>({
    begin(operation, call) {
      if (operation.kind !== "send") return undefined;
      const atMs = clock.now();
      const leftMs = call.deadline === undefined ? undefined : Math.max(0, call.deadline - atMs);
      return { atMs, deadlineMs: earlier(timeoutMs, leftMs) };
    },
    end({ atMs, deadlineMs }, outcome) {
      // A call that its own caller gave up says nothing about the one that was called.
      if (outcome.kind === "stopped" || (outcome.kind === "failed" && outcome.error.code === "cancelled")) return;
      // The clock may have been set back meanwhile.
      const latencyMs = Math.max(0, clock.now() - atMs);
      tell({ ok: isGood(outcome), latencyMs, deadlineMs });
    },
  });
}

function isGood(outcome: Outcome): boolean {
  return outcome.kind === "ended" && !isFailed(outcome.last);
}

function isFailed(last: Maybe<AgentEvent>): boolean {
  return stateIn(last) === "failed";
}

function earlier(a: Maybe<number>, b: Maybe<number>): Maybe<number> {
  if (a === undefined) return b;
  return b === undefined ? a : Math.min(a, b);
}
