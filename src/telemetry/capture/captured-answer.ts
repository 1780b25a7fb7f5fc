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
import { stateIn } from "../../policies/task-named.js";
import type { CapturedEvent } from "./captured-message.js";
import { hideInText } from "./secrets.js";

/** Kept of what is said, for lists. */
export const SHOWN_CHARS = 240;

/** One event as it stands in a list. */
export function capturedEvent(event: AgentEvent, at: number): CapturedEvent {
  const text = shown(textIn(event));
  return { at, kind: event.kind, state: stateIn(event), text: text === "" ? undefined : text };
}

/** The first characters, on one line. What people write may be JSON, and hold secrets as well as any body. */
export function shown(text: string): string {
  const first = hideInText(text.slice(0, SHOWN_CHARS + 1))
    .replace(/\s+/g, " ")
    .trim();
  return first.length > SHOWN_CHARS ? `${first.slice(0, SHOWN_CHARS)}…` : first;
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

/** Put together out of the events of one reply: what was answered, as one message. */
export class CapturedAnswer {
  readonly #limitBytes: number;
  #bytes = 0;
  #message: Maybe<Envelope>;
  #fold: Maybe<TaskFold>;
  /** Of the task that is spoken of. */
  taskId: Maybe<string>;
  sessionId: Maybe<string>;

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  see(event: AgentEvent): void {
    if (event.kind === "message") {
      this.#message = event.message;
      this.taskId ??= event.message.context.taskId;
      this.sessionId ??= event.message.context.sessionId;
    } else if (event.kind === "task" || event.kind === "status" || event.kind === "artifact") this.#grow(event);
  }

  /** Undefined where nothing was said. `question` is the message it answers. */
  message(question: Envelope, at: number): Maybe<Envelope> {
    if (this.#message !== undefined) return this.#message;
    const task = this.#fold?.snapshot();
    const content = task === undefined ? [] : joined(task).slice(0, MAX_LISTED_PARTS);
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

  /** The pieces of a long artifact cost what they add; more than may be kept is not put together. */
  #grow(event: TaskEvent): void {
    const { id, contextId } = event.kind === "task" ? event.task : { id: event.taskId, contextId: event.contextId };
    this.taskId ??= id;
    this.sessionId ??= contextId;
    this.#bytes += bytesIn(event);
    if (this.#bytes > this.#limitBytes && event.kind === "artifact") return;
    this.#fold ??= new TaskFold({ id, contextId, status: { state: "unknown", at: 0 }, artifacts: [], history: [] });
    this.#fold.apply(event.kind === "task" ? { ...event, task: { ...event.task, history: lastWords(event.task) } } : event);
  }
}

/** The pieces of a streamed text are one text again; artifacts stay apart. */
function joined(task: Task): readonly Part[] {
  return task.artifacts.length === 0 ? answerOf(task) : task.artifacts.flatMap(({ parts }) => joinTexts(parts));
}

function joinTexts(parts: readonly Part[]): readonly Part[] {
  const whole: Part[] = [];
  for (const part of parts) {
    const last = whole.at(-1);
    if (last?.kind === "text" && part.kind === "text" && isPlain(last) && isPlain(part))
      whole[whole.length - 1] = textPart(last.text + part.text);
    else whole.push(part);
  }
  return whole;
}

function isPlain({ mediaType, name, metadata }: Part): boolean {
  return mediaType === undefined && name === undefined && metadata === undefined;
}

/** Of the history only what may be the answer is needed. */
function lastWords({ history }: Task): readonly Envelope[] {
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
