import type { AgentEvent, Awaitable, Envelope, Status } from "../../../envelope/index.js";

/** An event with the messages of the agent in it changed: the message itself, and that of a status. */
export async function signedAnswer(event: AgentEvent, change: (message: Envelope) => Awaitable<Envelope>): Promise<AgentEvent> {
  switch (event.kind) {
    case "message":
      return { ...event, message: await change(event.message) };
    case "status":
      return { ...event, status: await inStatus(event.status, change) };
    case "task":
      return { ...event, task: { ...event.task, status: await inStatus(event.task.status, change) } };
    default:
      return event;
  }
}

async function inStatus(status: Status, change: (message: Envelope) => Awaitable<Envelope>): Promise<Status> {
  return status.message === undefined ? status : { ...status, message: await change(status.message) };
}
