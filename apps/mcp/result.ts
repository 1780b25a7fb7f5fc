import type { CallToolResult } from "@modelcontextprotocol/server";
import {
  AgentError,
  type Artifact,
  answerOf,
  answerText,
  type Json,
  type Maybe,
  type Part,
  type State,
  type Task,
  textOf,
} from "../../src/index.js";
import type { CallEnd } from "./call-agent.js";
import { LIMITS } from "./limits.js";
import { plainLine } from "./plain-text.js";
import { contentOf, encodedBytes } from "./result-content.js";

/** A hint for the user about an error. */
export type HintFor = (error: AgentError) => Maybe<string>;

/** The outcome of a call as a tool result. A failure of the agent is a result too, never a protocol error. */
export function resultOf(end: CallEnd, hintFor: HintFor): CallToolResult {
  const { answer, error, taskId, session } = end;
  const task = answer?.kind === "task" ? answer.task : undefined;
  const parts = task === undefined ? (answer?.kind === "message" ? answer.message.content : []) : answerOf(task);
  const answerContent = task === undefined ? textOf(parts) : answerText(task);
  const state: State = task?.status.state ?? (error === undefined ? "completed" : "unknown");
  const failure = error ?? failureOf(task);
  // A rejection is a decision of the agent, not of access control: hints about credentials do not apply.
  const hint = failure && state !== "rejected" ? hintFor(failure) : undefined;
  const text = [cutText(answerContent), guidance({ state, taskId, failure, hint })].filter(isNonEmpty).join("\n\n");
  const { blocks, data, omitted } = contentOf(parts, LIMITS.resultBytes - 2 * encodedBytes(text));
  const shown = [text, ...data.map((value) => JSON.stringify(value)), ...omitted.map((line) => `(omitted: ${line})`)];
  return {
    content: [{ type: "text", text: shown.filter(isNonEmpty).join("\n") }, ...blocks],
    structuredContent: {
      state,
      text,
      ...(taskId === undefined ? {} : { taskId }),
      ...(session === undefined ? {} : { session }),
      ...(data.length === 0 ? {} : { data }),
      ...(task === undefined || task.artifacts.length === 0 ? {} : { artifacts: artifactsOf(task) }),
      ...(failure === undefined ? {} : { error: errorOf(failure, hint) }),
      ...(omitted.length === 0 ? {} : { omitted }),
    },
    ...(failure === undefined ? {} : { isError: true }),
  };
}

/** The result of a call that failed before reaching the agent. */
export function errorResult(error: AgentError, hintFor: HintFor): CallToolResult {
  return resultOf({ answer: undefined, error, taskId: undefined, session: undefined }, hintFor);
}

function failureOf(task: Maybe<Task>): Maybe<AgentError> {
  switch (task?.status.state) {
    case "failed":
      return new AgentError(task.status.error?.code ?? "internal", task.status.error?.message ?? "The task failed");
    case "rejected":
      return new AgentError("forbidden", REJECTED);
    case "canceled":
      return new AgentError("cancelled", "The task was canceled");
    default:
      return undefined;
  }
}

const REJECTED = "The agent rejected the task";

interface GuidanceInput {
  readonly state: State;
  readonly taskId: Maybe<string>;
  readonly failure: Maybe<AgentError>;
  readonly hint: Maybe<string>;
}

/** Text for the model: the error, and how to continue. */
function guidance({ state, taskId, failure, hint }: GuidanceInput): string {
  const id = taskId === undefined ? undefined : JSON.stringify(taskId);
  if (failure !== undefined) {
    const line = plainLine(failure.message, LIMITS.lineChars);
    const lines = [state === "rejected" ? `${line}.` : `error ${failure.code}: ${line}`];
    if (hint !== undefined) lines.push(`hint: ${hint}`);
    if (id !== undefined && mayContinue(state, failure))
      lines.push(`The task may still be running. To wait for it, call this tool with an empty message and task ${id}.`);
    return lines.join("\n");
  }
  if (id === undefined) return "";
  if (state === "input-required") return `The agent requires input. To answer, call this tool with task ${id}.`;
  if (state === "auth-required") return `The agent requires authorization. When it is granted, call this tool with task ${id}.`;
  return "";
}

/** The wait ended, but the task may continue. */
function mayContinue(state: State, { code }: AgentError): boolean {
  const open = state === "working" || state === "submitted" || state === "unknown";
  return open && (code === "deadline" || code === "interrupted" || code === "unavailable");
}

function errorOf(failure: AgentError, hint: Maybe<string>): { readonly [name: string]: string } {
  const facts = { code: failure.code, face: failure.face, message: plainLine(failure.message, LIMITS.lineChars) };
  return hint === undefined ? facts : { ...facts, hint };
}

function artifactsOf({ artifacts }: Task): readonly { readonly [name: string]: Json }[] {
  return artifacts.slice(0, LIMITS.artifacts).map(({ id, name, description, parts }: Artifact) => ({
    id: plainLine(id, LIMITS.lineChars),
    ...(name === undefined ? {} : { name: plainLine(name, LIMITS.lineChars) }),
    ...(description === undefined ? {} : { description: plainLine(description, LIMITS.lineChars) }),
    mediaTypes: [...new Set(parts.map(mediaTypeOf))].slice(0, LIMITS.artifacts),
  }));
}

function mediaTypeOf({ kind, mediaType }: Part): string {
  const usual = { text: "text/plain", data: "application/json", raw: "application/octet-stream", url: "text/uri-list" } as const;
  return plainLine(mediaType ?? usual[kind], LIMITS.lineChars);
}

function cutText(text: string): string {
  if (text.length <= LIMITS.textChars) return text;
  return `${text.slice(0, LIMITS.textChars)}\n(truncated: ${text.length - LIMITS.textChars} characters omitted)`;
}

function isNonEmpty(text: string): boolean {
  return text !== "";
}
