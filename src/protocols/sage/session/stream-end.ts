import type { AgentEvent, Envelope, Status } from "../../../envelope/index.js";

/**
 * The end of a stream whose closing event has no content: a message with the id of the stream and no parts, for the last record to be in.
 * It is in the status, because gateways pass on the message of a status.
 */
export function withEnd(event: AgentEvent, stream: string): AgentEvent {
  return changedStatus(event, (status) => ({ ...status, message: endOf(stream) }));
}

/** The event without such a message, after it was opened. */
export function withoutEnd(event: AgentEvent, streams: readonly string[]): AgentEvent {
  return changedStatus(event, (status) => {
    const { message, ...rest } = status;
    return message?.content.length === 0 && streams.includes(message.id) ? rest : status;
  });
}

function changedStatus(event: AgentEvent, change: (status: Status) => Status): AgentEvent {
  if (event.kind === "status") return { ...event, status: change(event.status) };
  if (event.kind === "task") return { ...event, task: { ...event.task, status: change(event.task.status) } };
  return event;
}

function endOf(stream: string): Envelope {
  return { id: stream, ts: 0, src: "", dst: "", role: "agent", intent: "", content: [], context: {}, meta: {} };
}
