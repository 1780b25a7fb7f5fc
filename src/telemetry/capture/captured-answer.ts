import {
  type AgentEvent,
  answerOf,
  answerText,
  artifactText,
  type Envelope,
  MAX_LISTED_PARTS,
  type Maybe,
  type Part,
  partBytes,
  type Task,
  type TaskEvent,
  TaskFold,
  textOf,
  textPart,
} from "../../envelope/index.js";
import { stateIn } from "../../policies/task-id.js";
import type { CapturedEvent } from "./captured-message.js";
import { firstCharacters } from "./first-characters.js";
import { hideInText } from "./secrets.js";

/** Length of the text preview in lists. */
export const PREVIEW_CHARS = 240;

/** The list entry for one event. */
export function capturedEvent(event: AgentEvent, at: number): CapturedEvent {
  const text = preview(textIn(event));
  return { at, kind: event.kind, state: stateIn(event), text: text === "" ? undefined : text };
}

/** The beginning of a text on one line. The text may be JSON, so secrets are hidden here too. */
export function preview(text: string): string {
  const first = hideInText(firstCharacters(text, PREVIEW_CHARS + 1))
    .replace(/\s+/g, " ")
    .trim();
  return first.length > PREVIEW_CHARS ? `${first.slice(0, PREVIEW_CHARS)}…` : first;
}

function textIn(event: AgentEvent): string {
  switch (event.kind) {
    case "message":
      return textOf(event.message.content);
    case "task":
      return answerText(event.task);
    case "status":
      return textOf(event.status.message?.content ?? []);
    case "artifact":
      return artifactText(event.artifact.parts);
    case "card":
      return event.card.name;
    case "tasks":
      return `${event.tasks.length} tasks`;
    case "push":
    case "pushes":
    case "done":
      return "";
    default:
      return event satisfies never;
  }
}

/** Combines the events of one reply into a single answer message. */
export class CapturedAnswer {
  readonly #limitBytes: number;
  #bytes = 0;
  #message: Maybe<Envelope>;
  #fold: Maybe<TaskFold>;
  /** The task the events refer to. */
  taskId: Maybe<string>;
  sessionId: Maybe<string>;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  add(event: AgentEvent): void {
    if (event.kind === "message") {
      this.#message = event.message;
      this.taskId ??= event.message.context.taskId;
      this.sessionId ??= event.message.context.sessionId;
    } else if (event.kind === "task" || event.kind === "status" || event.kind === "artifact") this.#applyToTask(event);
  }

  /** Undefined if the reply had no content. `question` is the message it answers. */
  message(question: Envelope, at: number): Maybe<Envelope> {
    if (this.#message !== undefined) return this.#message;
    const task = this.#fold?.snapshot();
    const content = task === undefined ? [] : joinedParts(task).slice(0, MAX_LISTED_PARTS);
    if (task === undefined || content.length === 0) return undefined;
    return {
      id: idOf(task),
      ts: at / 1000,
      src: question.dst,
      dst: question.src,
      intent: "",
      role: "agent",
      content,
      context: { traceId: question.context.traceId, parentId: question.id, sessionId: task.contextId, taskId: task.id },
      meta: {},
    };
  }

  /** Charges each artifact chunk against the limit; chunks beyond it are not combined. */
  #applyToTask(event: TaskEvent): void {
    const { id, contextId } = event.kind === "task" ? event.task : { id: event.taskId, contextId: event.contextId };
    this.taskId ??= id;
    this.sessionId ??= contextId;
    this.#bytes += bytesIn(event);
    if (this.#bytes > this.#limitBytes && event.kind === "artifact") return;
    this.#fold ??= new TaskFold({ id, contextId, status: { state: "unknown", at: 0 }, artifacts: [], history: [] });
    this.#fold.apply(
      event.kind === "task" ? { ...event, task: { ...event.task, history: lastAgentMessage(event.task) } } : event,
    );
  }
}

/** Joins the chunks of a streamed text; separate artifacts stay separate. */
function joinedParts(task: Task): readonly Part[] {
  return task.artifacts.length === 0 ? answerOf(task) : task.artifacts.flatMap(({ parts }) => joinTexts(parts));
}

function joinTexts(parts: readonly Part[]): readonly Part[] {
  const joined: Part[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (last?.kind === "text" && part.kind === "text" && isPlain(last) && isPlain(part))
      joined[joined.length - 1] = textPart(last.text + part.text);
    else joined.push(part);
  }
  return joined;
}

function isPlain({ mediaType, name, metadata }: Part): boolean {
  return mediaType === undefined && name === undefined && metadata === undefined;
}

/** Only the last agent message of the history can be the answer. */
function lastAgentMessage({ history }: Task): readonly Envelope[] {
  const last = history.findLast(({ role }) => role === "agent");
  return last === undefined ? [] : [last];
}

function idOf(task: Task): string {
  return task.artifacts.length === 0 ? (task.status.message?.id ?? "") : "";
}

function bytesIn(event: TaskEvent): number {
  if (event.kind === "artifact") return bytesOf(event.artifact.parts);
  return event.kind === "task" ? event.task.artifacts.reduce((sum, { parts }) => sum + bytesOf(parts), 0) : 0;
}

function bytesOf(parts: readonly Part[]): number {
  return parts.reduce((sum, part) => sum + partBytes(part), 0);
}
