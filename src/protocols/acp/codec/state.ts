import type { State } from "../../../envelope/index.js";
import type { RunStatus } from "../wire.js";

const STATUS_OF = {
  submitted: "created",
  working: "in-progress",
  unknown: "in-progress",
  canceling: "cancelling",
  "input-required": "awaiting",
  "auth-required": "awaiting",
  completed: "completed",
  canceled: "cancelled",
  rejected: "failed",
  failed: "failed",
} as const satisfies Record<State, RunStatus>;

const STATE_OF = {
  created: "submitted",
  "in-progress": "working",
  awaiting: "input-required",
  cancelling: "canceling",
  cancelled: "canceled",
  completed: "completed",
  failed: "failed",
} as const satisfies Record<RunStatus, State>;

/** `rejected` is written as `failed`, and `auth-required` as `awaiting`; a Koine member carries the exact state. */
export function runStatusOf(state: State): RunStatus {
  return STATUS_OF[state];
}

export function stateOf(status: RunStatus): (typeof STATE_OF)[RunStatus] {
  return STATE_OF[status];
}
