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
import { encodedBytes, piecesOf } from "./result-content.js";

/** What can be done about an error, for people. */
export type HintFor = (error: AgentError) => Maybe<string>;

/** The end of a call as an assistant reads it. A failure of the agent is a result too, never an error of the protocol. */
export function resultOf(end: CallEnd, hintFor: HintFor): CallToolResult {
  const { answer, error, taskId, session } = end;
  const task = answer?.kind === "task" ? answer.task : undefined;
  const parts = task === undefined ? (answer?.kind === "message" ? answer.message.content : []) : answerOf(task);
  const said = task === undefined ? textOf(parts) : answerText(task);
  const state: State = task?.status.state ?? (error === undefined ? "completed" : "unknown");
  const failure = error ?? failureOf(task);
  const hint = failure && hintFor(failure);
  const text = [cutText(said), guidance({ state, taskId, failure, hint })].filter(isSomething).join("\n\n");
  const { blocks, data, omitted } = piecesOf(parts, LIMITS.resultBytes - 2 * encodedBytes(text));
  const shown = [text, ...data.map((value) => JSON.stringify(value)), ...omitted.map((line) => `(left out: ${line})`)];
  return {
    content: [{ type: "text", text: shown.filter(isSomething).join("\n") }, ...blocks],
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

/** A call that never reached an agent. */
export function refusalOf(error: AgentError, hintFor: HintFor): CallToolResult {
  return resultOf({ answer: undefined, error, taskId: undefined, session: undefined }, hintFor);
}

function failureOf(task: Maybe<Task>): Maybe<AgentError> {
  switch (task?.status.state) {
    case "failed":
      return new AgentError(task.status.error?.code ?? "internal", task.status.error?.message ?? "the task failed");
    case "rejected":
      return new AgentError("forbidden", "the agent rejected the task");
    case "canceled":
      return new AgentError("cancelled", "the task was canceled");
    default:
      return undefined;
  }
}

interface Standing {
  readonly state: State;
  readonly taskId: Maybe<string>;
  readonly failure: Maybe<AgentError>;
  readonly hint: Maybe<string>;
}

/** What the model has to know beside the answer: what went wrong, and how to go on. */
function guidance({ state, taskId, failure, hint }: Standing): string {
  const id = taskId === undefined ? undefined : JSON.stringify(taskId);
  if (failure !== undefined) {
    const lines = [`error ${failure.code}: ${plainLine(failure.message, LIMITS.lineChars)}`];
    if (hint !== undefined) lines.push(`hint: ${hint}`);
    if (id !== undefined && goesOn(state, failure))
      lines.push(`The task may still be at work. To wait for its end, call this tool with an empty message and task ${id}.`);
    return lines.join("\n");
  }
  if (id === undefined) return "";
  if (state === "input-required") return `The agent waits for an answer. To give it, call this tool with task ${id}.`;
  if (state === "auth-required")
    return `The agent waits until somebody authorizes it. When that is done, call this tool with task ${id}.`;
  return "";
}

/** The wait ended, not the work. */
function goesOn(state: State, { code }: AgentError): boolean {
  const open = state === "working" || state === "submitted" || state === "unknown";
  return open && (code === "deadline" || code === "interrupted" || code === "unavailable");
}

function errorOf(failure: AgentError, hint: Maybe<string>): { readonly [name: string]: string } {
  const told = { code: failure.code, message: plainLine(failure.message, LIMITS.lineChars) };
  return hint === undefined ? told : { ...told, hint };
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
  return `${text.slice(0, LIMITS.textChars)}\n(cut: ${text.length - LIMITS.textChars} characters are left out)`;
}

function isSomething(text: string): boolean {
  return text !== "";
}
