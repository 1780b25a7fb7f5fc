import type { LossSink, State } from "../../../envelope/index.js";
import { DecodeProblem } from "../../../transport/fields.js";
import { shown } from "../wire.js";

/** A2A 1.0 §4.1.3, in the order of the enum's numbers. */
const STATES: readonly State[] = [
  "unknown",
  "submitted",
  "working",
  "completed",
  "failed",
  "canceled",
  "input-required",
  "rejected",
  "auth-required",
];

/** The ProtoJSON names. Canceling has none and is written as working. */
const NAMES = {
  unknown: "TASK_STATE_UNSPECIFIED",
  submitted: "TASK_STATE_SUBMITTED",
  working: "TASK_STATE_WORKING",
  canceling: "TASK_STATE_WORKING",
  completed: "TASK_STATE_COMPLETED",
  failed: "TASK_STATE_FAILED",
  canceled: "TASK_STATE_CANCELED",
  "input-required": "TASK_STATE_INPUT_REQUIRED",
  rejected: "TASK_STATE_REJECTED",
  "auth-required": "TASK_STATE_AUTH_REQUIRED",
} as const satisfies Record<State, string>;

const byName = new Map<unknown, State>();
for (const [number, state] of STATES.entries()) {
  byName.set(NAMES[state], state);
  byName.set(number, state);
  byName.set(`${number}`, state);
}
// The protobuf of 0.3 spelt it with two Ls.
byName.set("TASK_STATE_CANCELLED", "canceled");
const byKind = new Map<unknown, State>(STATES.map((state) => [state, state]));

/** The name or number; absent means the zero value. */
export function readState(value: unknown, path: string): State {
  return value === undefined || value === null ? "unknown" : known(byName.get(value), value, path);
}

export function writeState(state: State, reportLoss: LossSink): string {
  reportStateLoss(state, reportLoss);
  return NAMES[state];
}

/** The lower-case names of 0.3's JSON schema. */
export function readKindState(value: unknown, path: string): State {
  return known(byKind.get(value), value, path);
}

export function writeKindState(state: State, reportLoss: LossSink): string {
  reportStateLoss(state, reportLoss);
  return state === "canceling" ? "working" : state;
}

/** The spelling of 0.3's protobuf. */
export function writeProtoState(state: State, reportLoss: LossSink): string {
  return state === "canceled" ? "TASK_STATE_CANCELLED" : writeState(state, reportLoss);
}

function known(state: State | undefined, value: unknown, path: string): State {
  if (state !== undefined) return state;
  throw new DecodeProblem(path, `must be a task state, not ${shown(value)}`);
}

function reportStateLoss(state: State, reportLoss: LossSink): void {
  if (state === "canceling")
    reportLoss({
      protocol: "a2a",
      path: "task.status.state",
      valueKind: "canceling",
      reason: "A2A has no such state; sent as working",
    });
}
