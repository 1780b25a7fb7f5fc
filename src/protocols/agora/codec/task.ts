import {
  type Artifact,
  answerOf,
  artifactText,
  hasProtected,
  isErrorCode,
  isInterrupted,
  type JsonObject,
  type LossSink,
  type Maybe,
  type Part,
  readUte,
  type State,
  type Status,
  type Task,
  textPart,
} from "../../../envelope/index.js";
import { readContent, writeContent } from "../../../envelope/ute-content.js";
import {
  DecodeProblem,
  optional,
  readArray,
  readInteger,
  readObject,
  readString,
  readStrings,
} from "../../../transport/fields.js";
import type { WireArtifact, WireMetadata, WireReceipt, WireTask } from "../wire.js";
import { bodyOf, isBare, isPlainText } from "./body.js";
import { orProblem, writeCarried } from "./metadata.js";

const STATES: ReadonlySet<string> = new Set<State>([
  "submitted",
  "working",
  "canceling",
  "unknown",
  "input-required",
  "auth-required",
  "completed",
  "canceled",
  "rejected",
  "failed",
]);

/** The task state in a receipt. Undefined if the state is unknown. */
export function stateOf(receipt: Maybe<WireReceipt>): Maybe<{ readonly id: string; readonly state: State }> {
  if (receipt?.state === undefined || !STATES.has(receipt.state)) return undefined;
  return { id: receipt.id, state: receipt.state as State }; // the set contains it
}

/** The text that a task returns to its caller: its question, or its answer. The chunks of a streamed text are joined. */
export function shownParts(task: Task): readonly Part[] {
  const { status, artifacts } = task;
  if (isInterrupted(status.state)) return status.message?.content ?? answerOf(task);
  if (artifacts.length === 0) return answerOf(task);
  return artifacts.flatMap(({ parts }) =>
    parts.length > 1 && parts.every((part) => part.kind === "text" && isBare(part)) ? [textPart(artifactText(parts))] : parts,
  );
}

/** Encodes a task for a Koine peer. Id and state are in the receipt; content in the body is not repeated. */
export function writeTask({ contextId, status, artifacts, history, metadata }: Task, body: string): WireTask {
  const { state, message } = status;
  const silent = artifacts.length === 0 && message === undefined;
  const lastMessage = silent ? history.findLast(({ role }) => role === "agent") : undefined;
  return {
    session: contextId,
    at: Math.round(status.at),
    message: message === undefined ? undefined : writeCarried(message),
    error: state === "failed" ? status.error : undefined,
    artifacts: artifacts.map((artifact) => writeArtifact(artifact, artifacts.length === 1 ? body : undefined)),
    said: lastMessage === undefined ? undefined : writeCarried(lastMessage),
    metadata,
  };
}

function writeArtifact({ id, name, description, parts, metadata, extensions }: Artifact, body: Maybe<string>): WireArtifact {
  const isBody = body !== undefined && isPlainText(parts) && bodyOf(parts) === body;
  return { id, name, description, content: isBody ? undefined : writeContent(parts), metadata, extensions };
}

/**
 * The task of a reply. Undefined if there is none, or if it contradicts the body: a body changed in transit takes precedence.
 * Throws DecodeProblem.
 */
export function readTask({ task: wire, receipt }: WireMetadata, body: string): Maybe<Task> {
  const taskState = stateOf(receipt);
  if (wire === undefined || taskState === undefined) return undefined;
  const task = orProblem("metadata.task", () => taskIn(readObject(wire, "metadata.task"), taskState, body));
  const isInBody = taskState.state === "completed" || isInterrupted(taskState.state);
  if (!isInBody || bodyOf(shownParts(task)) === body) return task;
  if (isTaskProtected(task)) throw new DecodeProblem("metadata.task", "is signed or sealed, and the body differs from it");
  return undefined;
}

/** Whether what a reply carries of a task is signed or sealed. Replies carry no history. */
export function isTaskProtected(task: Task): boolean {
  return hasProtected({ kind: "task", task: { ...task, history: [] } });
}

function taskIn(wire: JsonObject, { id, state }: { readonly id: string; readonly state: State }, body: string): Task {
  const path = "metadata.task";
  const lastMessage = optional(wire["said"], `${path}.said`, readUte);
  return {
    id,
    contextId: readString(wire["session"], `${path}.session`),
    status: statusIn(wire, state),
    artifacts: readArray(wire["artifacts"], `${path}.artifacts`, (item, at) => readArtifact(item, at, body)),
    history: lastMessage === undefined ? [] : [lastMessage],
    metadata: optional(wire["metadata"], `${path}.metadata`, readObject),
  };
}

function statusIn(wire: JsonObject, state: State): Status {
  const at = readInteger(wire["at"], "metadata.task.at");
  const message = optional(wire["message"], "metadata.task.message", readUte);
  if (state !== "failed") return { state, at, message };
  const { code, message: words } = optional(wire["error"], "metadata.task.error", readObject) ?? {};
  const isError = typeof code === "string" && isErrorCode(code) && typeof words === "string";
  return { state, at, message, error: isError ? { code, message: words } : undefined };
}

function readArtifact(value: unknown, path: string, body: string): Artifact {
  const wire = readObject(value, path);
  return {
    id: readString(wire["id"], `${path}.id`),
    name: optional(wire["name"], `${path}.name`, readString),
    description: optional(wire["description"], `${path}.description`, readString),
    parts: wire["content"] === undefined ? [textPart(body)] : readContent(wire["content"]),
    metadata: optional(wire["metadata"], `${path}.metadata`, readObject),
    extensions: optional(wire["extensions"], `${path}.extensions`, readStrings),
  };
}

/** Reports what is lost of a task for peers that read only the body. */
export function reportTaskLosses(task: Task, shown: boolean, reportLoss: LossSink): void {
  const report = (path: string, value: unknown): void =>
    reportMemberLoss(path, value, "Agora has no tasks; an answer is a single text", reportLoss);
  report("task.metadata", task.metadata);
  for (const [index, artifact] of task.artifacts.entries()) {
    const path = `task.artifacts[${index}]`;
    if (index > 0 || !shown) report(path, artifact);
    else for (const member of ARTIFACT_MEMBERS) report(`${path}.${member}`, artifact[member]);
  }
  reportHistoryLoss(task, reportLoss);
}

const ARTIFACT_MEMBERS = ["name", "description", "metadata", "extensions"] as const;

/** The message history is not carried. */
export function reportHistoryLoss({ history }: Task, reportLoss: LossSink): void {
  if (history.length > 0) reportMemberLoss("task.history", history, "a reply carries no history", reportLoss);
}

function reportMemberLoss(path: string, value: unknown, reason: string, reportLoss: LossSink): void {
  if (value !== undefined) reportLoss({ protocol: "agora", path, valueKind: typeof value, reason });
}
