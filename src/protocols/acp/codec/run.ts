import {
  type AgentEvent,
  type Envelope,
  isTerminal,
  type JsonObject,
  type LossSink,
  type Maybe,
  type Status,
  type Task,
  textOf,
} from "../../../envelope/index.js";
import { DecodeProblem, optional, readObject, readText } from "../../../transport/fields.js";
import { writeTimestamp } from "../../../transport/timestamp.js";
import { failureFrom, wireErrorOfFailure } from "../errors.js";
import { RUN_STATUSES, type RunStatus, type WireAwait, type WireError, type WireMessage, type WireRun } from "../wire.js";
import type { CodecFacts, RunFacts } from "./facts.js";
import { reportLossAt } from "./koine-members.js";
import { partMembersOf, readMessage, readTime, type Setting, writeMessage } from "./message.js";
import { firstKoineMembers, type Output, readOutput, writeArtifact, writeBare, writeStatusMessage } from "./output.js";
import { runStatusOf, stateOf } from "./state.js";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Run and session ids are UUIDs. */
export function isUuid(id: string): boolean {
  return UUID.test(id);
}

/** A task as a run. */
export function encodeRun(task: Task, facts: RunFacts): WireRun {
  const { status } = task;
  const { agentName, reportLoss } = facts;
  reportRunLosses(task, reportLoss);
  const output: WireMessage[] = [];
  for (const artifact of task.artifacts) output.push(writeArtifact(artifact, output.length, agentName));
  const message = lastMessage(status);
  if (message !== undefined) output.push(writeStatusMessage(message, agentName));
  return {
    run_id: task.id,
    agent_name: agentName,
    session_id: sessionOf(task.contextId, reportLoss),
    status: runStatusOf(status.state),
    await_request: awaitOf(status, agentName),
    output,
    error: errorOf(status),
    created_at: writeTimestamp(facts.createdAt),
    finished_at: isTerminal(status.state) ? writeTimestamp(status.at) : null,
  };
}

/** The number of output messages of a task's run, without encoding them. */
export function outputLength({ artifacts, status }: Task): number {
  return artifacts.length + (lastMessage(status) === undefined ? 0 : 1);
}

/** The final message of the agent. */
function lastMessage({ message, state }: Status): Maybe<Envelope> {
  return isTerminal(state) ? message : undefined;
}

/** A message as a completed run: ACP has no answers without a run. */
export function encodeReply(reply: Envelope, runId: string, facts: RunFacts): WireRun {
  const at = writeTimestamp(facts.createdAt);
  return {
    run_id: runId,
    agent_name: facts.agentName,
    session_id: sessionOf(reply.context.sessionId ?? "", facts.reportLoss),
    status: "completed",
    await_request: null,
    output: [writeBare(reply, facts.agentName)],
    error: null,
    created_at: at,
    finished_at: at,
  };
}

function sessionOf(contextId: string, reportLoss: LossSink): string | null {
  if (isUuid(contextId)) return contextId;
  if (contextId !== "")
    reportLossAt(reportLoss, "task.contextId", "string", "ACP session ids are UUIDs; another id cannot be represented");
  return null;
}

function reportRunLosses({ status, history, metadata }: Task, reportLoss: LossSink): void {
  if (history.length > 0) reportLossAt(reportLoss, "task.history", "array", "a run contains only its output");
  if (metadata !== undefined) reportLossAt(reportLoss, "task.metadata", "object", "a run has no metadata");
  if (status.state === "unknown")
    reportLossAt(reportLoss, "task.status.state", "unknown", "ACP has no such state; sent as in-progress");
  if (status.message === undefined || isTerminal(status.state) || runStatusOf(status.state) === "awaiting") return;
  reportLossAt(reportLoss, "task.status.message", "object", "an unfinished run has no message; its events do");
}

/** Without a question the message has no parts. `auth-required` is a Koine member; other peers see an awaiting run. */
function awaitOf(status: Status, agentName: string): WireAwait | null {
  const { state, message } = status;
  if (state !== "input-required" && state !== "auth-required") return null;
  const own: JsonObject = { state: state === "auth-required" ? state : undefined };
  if (message !== undefined)
    return { type: "message", message: writeMessage(message, agentName, { ...own, message: partMembersOf(message) }) };
  const silent: Envelope = { ...SILENT, ts: status.at / 1000 };
  return { type: "message", message: writeMessage(silent, agentName, state === "auth-required" ? own : undefined) };
}
const SILENT: Envelope = { id: "", ts: 0, src: "", dst: "", intent: "", role: "agent", content: [], context: {}, meta: {} };

/** `state` in the data carries the exact state, which the three ACP codes cannot express. */
function errorOf(status: Status): WireError | null {
  if (status.state === "rejected") {
    const text = textOf(status.message?.content ?? []);
    return { code: "server_error", message: text === "" ? "the agent rejected the task" : text, data: { state: "rejected" } };
  }
  if (status.state !== "failed") return null;
  if (status.error !== undefined) return wireErrorOfFailure(status.error);
  const message = textOf(status.message?.content ?? []);
  return { code: "server_error", message: message === "" ? "the task failed" : message, data: { state: "failed" } };
}

/** Decodes a run as a task. */
export function decodeRun(wire: unknown, facts: CodecFacts): Task {
  return readRun(wire, "run", facts).task;
}

/** The answer of a run: a task, or a message if that is all it holds. */
export function decodeAnswer(wire: unknown, facts: CodecFacts): AgentEvent {
  const { task, output } = readRun(wire, "run", facts);
  if (output.bare && output.message !== undefined) return { kind: "message", message: output.message };
  return { kind: "task", task };
}

export interface ReadRun {
  readonly task: Task;
  readonly output: Output;
}

export function readRun(value: unknown, path: string, facts: CodecFacts): ReadRun {
  const wire = readObject(value, path);
  const id = readText(wire.run_id, `${path}.run_id`);
  const session = optional(wire.session_id, `${path}.session_id`, readText);
  const contextId = facts.contextId ?? session ?? "";
  const setting: Setting = { facts, ids: { sessionId: contextId === "" ? undefined : contextId, taskId: id } };
  const output = readOutput(wire.output, `${path}.output`, setting);
  const status = readStatus(wire, path, setting, output.message);
  return { task: { id, contextId, status, artifacts: output.artifacts, history: [], metadata: undefined }, output };
}

function readStatus(wire: JsonObject, path: string, setting: Setting, message: Maybe<Envelope>): Status {
  const name = wire.status;
  const status = RUN_STATUSES[RUN_STATUSES.indexOf(name as RunStatus)]; // undefined if unknown
  if (status === undefined) throw new DecodeProblem(`${path}.status`, `must be one of ${RUN_STATUSES.join(", ")}`);
  const at = timeOf(wire, status, path, setting.facts.now);
  if (status === "awaiting") return { ...readAwait(wire.await_request, `${path}.await_request`, setting), at };
  if (status !== "failed") return { state: stateOf(status), at, message };
  const error = optional(wire.error, `${path}.error`, readObject);
  const data = optional(error?.data, `${path}.error.data`, readObject);
  if (data?.state === "rejected") return { state: "rejected", at, message };
  return {
    state: "failed",
    at,
    message,
    error: error === undefined || data?.state === "failed" ? undefined : failureFrom(error, setting.facts.reportLoss),
  };
}

/** A run has only its creation and end time; other status times are the time of receipt. */
function timeOf(wire: JsonObject, status: RunStatus, path: string, now: number): number {
  const member = status === "created" ? "created_at" : "finished_at";
  return optional(wire[member], `${path}.${member}`, readTime) ?? now;
}

function readAwait(
  value: unknown,
  path: string,
  setting: Setting,
): { readonly state: "input-required" | "auth-required"; readonly message: Maybe<Envelope> } {
  const request = optional(value, path, readObject);
  // The specification does not define the object; the one kind that the SDKs support has a message.
  const message = request?.message;
  if (message === undefined || message === null) return { state: "input-required", message: undefined };
  const { parts } = readObject(message, `${path}.message`);
  const own = firstKoineMembers(parts, `${path}.message.parts`);
  const state = own?.state === "auth-required" ? own.state : "input-required";
  const isSilent = (Array.isArray(parts) && parts.length === 0) || (own?.none === true && own.message === undefined);
  return { state, message: isSilent ? undefined : readMessage(message, `${path}.message`, setting, own) };
}
