import { AgentError, type Maybe } from "../envelope/index.js";

/** A missing task and somebody else's: one answer for both. */
export function taskNotFound(taskId: string): AgentError {
  return new AgentError("task_not_found", "task not found", { detail: { taskId } });
}

/** Somebody else holds the task now, or nobody does. */
export function cursorExpired(): AgentError {
  return new AgentError("lost_place", "the task is no longer held by this process");
}

/** A2A 1.0 §3.2.4: how much history the caller wants is absent, zero or a positive number. */
export function checkHistoryLength(historyLength: Maybe<number>): void {
  if (historyLength === undefined || (Number.isInteger(historyLength) && historyLength >= 0)) return;
  throw new AgentError("invalid_message", "historyLength: must not be negative", { field: "historyLength" });
}

/** Only a store can throw what is not ours: it may be back later, and its words stay inside. */
export function asOurs(thrown: unknown): AgentError {
  if (thrown instanceof AgentError) return thrown;
  return new AgentError("unavailable", "the task store does not answer", { cause: thrown });
}

/** The same, for a promise that failed. */
export function rethrowOurs(thrown: unknown): never {
  throw asOurs(thrown);
}
