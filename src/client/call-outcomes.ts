import type { AgentEvent, Layer, Maybe } from "../envelope/index.js";
import { around, type Clock, type Outcome } from "../policies/index.js";
import { stateIn } from "../policies/task-id.js";

/** How a send ended for its caller. */
export interface CallOutcome {
  /** An answer arrived, and it is not a failed task. */
  readonly ok: boolean;
  /** Until the answer was complete, or the call failed. */
  readonly latencyMs: number;
  /** The caller's time limit. Undefined: none. */
  readonly deadlineMs: Maybe<number>;
}

export interface OutcomeOptions {
  readonly clock: Clock;
  readonly timeoutMs: Maybe<number>;
  report(outcome: CallOutcome): void;
}

interface Started {
  readonly atMs: number;
  readonly deadlineMs: Maybe<number>;
}

/** Outside every policy: reports the outcome of each send. Other operations say little about the protocol and are not counted. */
export function callOutcomes({ clock, timeoutMs, report }: OutcomeOptions): Layer {
  return around<Started>({
    begin(operation, call) {
      if (operation.kind !== "send") return undefined;
      const atMs = clock.now();
      const leftMs = call.deadline === undefined ? undefined : Math.max(0, call.deadline - atMs);
      return { atMs, deadlineMs: earlier(timeoutMs, leftMs) };
    },
    end({ atMs, deadlineMs }, outcome) {
      // A call cancelled by its caller says nothing about the peer.
      if (outcome.kind === "stopped" || (outcome.kind === "failed" && outcome.error.code === "cancelled")) return;
      // The clock may have been set back.
      const latencyMs = Math.max(0, clock.now() - atMs);
      report({ ok: isSuccess(outcome), latencyMs, deadlineMs });
    },
  });
}

function isSuccess(outcome: Outcome): boolean {
  return outcome.kind === "ended" && !isFailed(outcome.last);
}

function isFailed(last: Maybe<AgentEvent>): boolean {
  return stateIn(last) === "failed";
}

function earlier(a: Maybe<number>, b: Maybe<number>): Maybe<number> {
  if (a === undefined) return b;
  return b === undefined ? a : Math.min(a, b);
}
