import type { AgentEvent, Maybe, Operation, State } from "../envelope/index.js";

/** The task an operation is about; undefined for one that is about none, or makes its own. */
export function taskNamedBy(operation: Operation): Maybe<string> {
  switch (operation.kind) {
    case "send":
      return operation.envelope.context.taskId;
    case "task.get":
    case "task.cancel":
    case "task.subscribe":
    case "push.get":
    case "push.delete":
    case "push.list":
      return operation.taskId;
    case "push.set":
      return operation.config.taskId;
    case "task.list":
    case "session.close":
    case "card":
    case "ping":
      return undefined;
    default:
      return operation satisfies never;
  }
}

/** The one task an event speaks of. */
export function taskIn(event: AgentEvent): Maybe<string> {
  if (event.kind === "task") return event.task.id;
  return event.kind === "status" || event.kind === "artifact" ? event.taskId : undefined;
}

/** The state of the task an event speaks of, where it says one. */
export function stateIn(event: Maybe<AgentEvent>): Maybe<State> {
  if (event?.kind === "task") return event.task.status.state;
  return event?.kind === "status" ? event.status.state : undefined;
}
