import { AgentError, type AgentEvent, answerOf, type EventOf, type Part, type Task, textOf } from "../../../src/index.js";
import { EMULATED_KEY } from "../../../src/internal.js";

/** An event as a reader sees it, whichever wires it crossed. */
export function seen(event: AgentEvent): string {
  switch (event.kind) {
    case "task":
      return `task ${event.task.status.state}`;
    case "status":
      return `status ${event.status.state}`;
    case "artifact":
      return `artifact ${textOf(event.artifact.parts)}`;
    default:
      return event.kind;
  }
}

export async function collect<T>(events: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const event of events) all.push(event);
  return all;
}

/** The content of all events, in order of arrival. */
export function contentOf(events: readonly AgentEvent[]): readonly Part[] {
  return events.flatMap((event) => {
    switch (event.kind) {
      case "message":
        return event.message.content;
      case "task":
        return answerOf(event.task);
      case "artifact":
        return event.artifact.parts;
      default:
        return [];
    }
  });
}

/** The text of all events joined: chunk boundaries do not matter. */
export function wordsOf(events: readonly AgentEvent[]): string {
  return contentOf(events)
    .map((part) => (part.kind === "text" ? part.text : `<${part.kind}>`))
    .join("");
}

/** The features that the gateway reports as emulated. */
export function emulatedIn(events: readonly AgentEvent[]): readonly unknown[] {
  return events.flatMap((event) => {
    const metadata = event.kind === "status" || event.kind === "artifact" ? event.metadata : undefined;
    const flagged = metadata?.[EMULATED_KEY];
    return Array.isArray(flagged) ? flagged : [];
  });
}

export function taskIn(event: EventOf<"send">): Task {
  if (event.kind !== "task") throw new Error(`a task was expected, and ${event.kind} came`);
  return event.task;
}

/** The task of a stream. */
export function taskIdIn(events: readonly AgentEvent[]): string {
  for (const event of events) {
    if (event.kind === "task") return event.task.id;
    if (event.kind === "status" || event.kind === "artifact") return event.taskId;
  }
  throw new Error("the stream names no task");
}

export function codeOf(thrown: unknown): string {
  return AgentError.from(thrown).code;
}

/** The state of a task, the code of an error, or the kind of another event. */
export function outcomeOf(answer: Promise<EventOf<"send">>): Promise<string> {
  return answer.then((event) => (event.kind === "task" ? event.task.status.state : event.kind), codeOf);
}
