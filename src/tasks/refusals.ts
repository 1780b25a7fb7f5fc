import { AgentError, type Maybe } from "../envelope/index.js";

/** The same error for a missing task and for another owner's task. */
export function taskNotFound(taskId: string): AgentError {
  return new AgentError("task_not_found", "task not found", { detail: { taskId } });
}

/** Another process holds the task, or none does. */
export function leaseLost(): AgentError {
  return new AgentError("lost_place", "the task is no longer held by this process");
}

/** A2A 1.0 §3.2.4: absent, zero or a positive number. */
export function checkHistoryLength(historyLength: Maybe<number>): void {
  if (historyLength === undefined || (Number.isInteger(historyLength) && historyLength >= 0)) return;
  throw new AgentError("invalid_message", "historyLength: must not be negative", { field: "historyLength" });
}

/** Other errors come from the store. They are reported as `unavailable`, without their message. */
export function asAgentError(thrown: unknown): AgentError {
  if (thrown instanceof AgentError) return thrown;
  return new AgentError("unavailable", "the task store does not answer", { cause: thrown });
}

/** `asAgentError` for a rejected promise. */
export function rethrowAsAgentError(thrown: unknown): never {
  throw asAgentError(thrown);
}
