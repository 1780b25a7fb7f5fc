import type { AgentEvent, Maybe, Operation, State } from "../envelope/index.js";

/** The task id an operation names; undefined if it names none or creates one. */
export function taskIdOf(operation: Operation): Maybe<string> {
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

/** The task id of an event. */
export function taskIdIn(event: AgentEvent): Maybe<string> {
  if (event.kind === "task") return event.task.id;
  return event.kind === "status" || event.kind === "artifact" ? event.taskId : undefined;
}

/** The task state in an event, if it has one. */
export function stateIn(event: Maybe<AgentEvent>): Maybe<State> {
  if (event?.kind === "task") return event.task.status.state;
  return event?.kind === "status" ? event.status.state : undefined;
}
