import {
  AgentError,
  type Envelope,
  isObject,
  type JsonObject,
  type LossSink,
  type Maybe,
  type Metadata,
  type OperationOf,
  type Part,
  textPart,
} from "../../../envelope/index.js";
import type { HttpHeaders } from "../../../transport/exchange.js";
import { DecodeProblem, kindOf, optional, readObject, readStrings, readText } from "../../../transport/fields.js";
import { sessionMismatch } from "../errors.js";
import { RUN_MODES, type RunMode, type WireMessage, type WireRunRequest, type WireSession } from "../wire.js";
import { idIn, withHeaders, writeEnvelopeHeaders } from "./envelope-header.js";
import type { CodecFacts } from "./facts.js";
import { reportLossAt } from "./koine-members.js";
import { readMessage, type Setting, writeMessage } from "./message.js";
import { isUuid } from "./run.js";

/** A request to start a run. */
export interface RunRequest {
  readonly agentName: string;
  readonly mode: RunMode;
  /** All messages of the input, in order; at least one, empty if the input is. */
  readonly input: readonly Envelope[];
  /** The same as received, for a hop within ACP. */
  readonly wire: readonly JsonObject[];
  readonly sessionId: Maybe<string>;
  readonly session: Maybe<WireSession>;
}

/** Limit of messages per input. */
export const INPUT_MESSAGES = 256;
/** Limit of messages that a session descriptor may reference. */
export const SESSION_HISTORY = 10_000;

export function decodeRunRequest(body: unknown, facts: CodecFacts): RunRequest {
  const wire = readObject(body, "body");
  const agentName = readText(wire.agent_name, "agent_name");
  const session = optional(wire.session, "session", readSession);
  const named = optional(wire.session_id, "session_id", readSessionId);
  if (named !== undefined && session !== undefined && named !== session.id) throw sessionMismatch();
  const sessionId = named ?? session?.id;
  const messages = readInput(wire.input);
  const ids = { sessionId, taskId: undefined };
  const earlier: Setting = { facts, ids };
  // The headers belong to the last message.
  const setting: Setting = { facts, ids, id: idIn(facts.headers) };
  const end = messages.length - 1;
  const input: Envelope[] = [];
  for (let index = 0; index < end; index++) input.push(readMessage(messages[index], `input[${index}]`, earlier));
  const last = end === -1 ? readMessage(EMPTY, "input", setting) : readMessage(messages[end], `input[${end}]`, setting);
  input.push(withHeaders(last, setting));
  return { agentName, mode: readMode(wire.mode ?? "sync"), input, wire: messages, sessionId, session };
}

const EMPTY: JsonObject = Object.freeze({ role: "user", parts: Object.freeze([]) });

function readInput(value: unknown): readonly JsonObject[] {
  if (!Array.isArray(value))
    throw new DecodeProblem(
      "input",
      value === undefined || value === null ? "is missing; an array is expected" : `must be an array, not ${kindOf(value)}`,
    );
  if (value.length > INPUT_MESSAGES)
    throw new DecodeProblem("input", `has ${value.length} messages; at most ${INPUT_MESSAGES} are read`, "too_large");
  return value as readonly JsonObject[]; // each is checked when it is decoded
}

function readMode(value: unknown): RunMode {
  if (value === "sync" || value === "async" || value === "stream") return value;
  throw new DecodeProblem("mode", `must be one of ${RUN_MODES.join(", ")}`);
}

function readSessionId(value: unknown, path: string): string {
  const id = readText(value, path);
  if (!isUuid(id)) throw new DecodeProblem(path, "must be a UUID");
  return id.toLowerCase();
}

function readSession(value: unknown, path: string): WireSession {
  const wire = readObject(value, path);
  const history = optional(wire.history, `${path}.history`, readStrings) ?? [];
  if (history.length > SESSION_HISTORY)
    throw new DecodeProblem(
      `${path}.history`,
      `has ${history.length} messages; at most ${SESSION_HISTORY} are read`,
      "too_large",
    );
  return { id: readSessionId(wire.id, `${path}.id`), history, state: optional(wire.state, `${path}.state`, readText) };
}

export function decodeResume(body: unknown, facts: CodecFacts): { readonly mode: RunMode; readonly message: Envelope } {
  const wire = readObject(body, "body");
  const resume = readObject(wire.await_resume, "await_resume");
  if (resume.type !== undefined && resume.type !== null && resume.type !== "message")
    throw new DecodeProblem("await_resume.type", "must be message");
  const ids = { sessionId: facts.contextId, taskId: undefined };
  const setting: Setting = { facts, ids, id: idIn(facts.headers) };
  const message = withHeaders(readMessage(resume.message, "await_resume.message", setting), setting);
  return { mode: readMode(wire.mode), message };
}

/**
 * Combines the messages of an input into one envelope. Trailing messages of the same author become one message with all their
 * parts. Earlier ones have no neutral form and are kept as received, for a hop within ACP.
 */
export function sendOf({ input, wire, session }: RunRequest): { readonly envelope: Envelope } {
  const last = input[input.length - 1];
  if (last === undefined) throw new AgentError("internal", "a run request without messages");
  let first = input.length - 1;
  while (first > 0 && input[first - 1]?.role === last.role) first--;
  const earlier = first === 0 ? undefined : wire.slice(0, first);
  if (first === input.length - 1 && earlier === undefined && session === undefined) return { envelope: last };
  const content: Part[] = [];
  for (let index = first; index < input.length; index++) content.push(...(input[index]?.content ?? []));
  const kept: Metadata = {
    input: earlier,
    session: session === undefined ? undefined : { id: session.id, history: session.history, state: session.state },
  };
  const acp = earlier === undefined && session === undefined ? undefined : { acp: kept };
  return { envelope: { ...last, content, extra: acp === undefined ? last.extra : { ...last.extra, ...acp } } };
}

const MODES = { answer: "sync", accepted: "async", stream: "stream" } as const;

/** `sessionId`: the UUID of the session on the wire. */
export function encodeRunRequest(
  operation: OperationOf<"send">,
  agentName: string,
  sessionId: Maybe<string>,
  reportLoss: LossSink,
): { readonly body: WireRunRequest; readonly headers: HttpHeaders } {
  const { envelope, delivery } = operation;
  reportOptionLosses(operation, reportLoss);
  const acp = envelope.extra?.["acp"];
  const kept: JsonObject = isObject(acp) ? acp : NOTHING;
  const message = messageOf(envelope);
  const earlier = Array.isArray(kept.input) ? (kept.input as readonly WireMessage[]) : undefined; // as it was decoded
  const session = isObject(kept.session) && kept.session.id === sessionId ? kept.session : undefined;
  return {
    body: {
      agent_name: agentName,
      input: earlier === undefined ? [message] : [...earlier, message],
      session_id: sessionId,
      session,
      mode: MODES[delivery],
    },
    headers: writeEnvelopeHeaders(envelope, reportLoss),
  };
}
const NOTHING: JsonObject = Object.freeze({});

export function encodeResume(
  operation: OperationOf<"send">,
  runId: string,
  reportLoss: LossSink,
): { readonly body: JsonObject; readonly headers: HttpHeaders } {
  reportOptionLosses(operation, reportLoss);
  return {
    // The specification requires the run id in the body too; the SDKs ignore it.
    body: {
      run_id: runId,
      await_resume: { type: "message", message: { ...messageOf(operation.envelope) } },
      mode: MODES[operation.delivery],
    },
    headers: writeEnvelopeHeaders(operation.envelope, reportLoss),
  };
}

/** The specification requires at least one part. */
function messageOf(envelope: Envelope): WireMessage {
  const nonEmpty = envelope.content.length > 0 ? envelope : { ...envelope, content: [textPart("")] };
  return writeMessage(nonEmpty, envelope.src, undefined);
}

function reportOptionLosses({ push, outputModes, metadata, historyLength }: OperationOf<"send">, reportLoss: LossSink): void {
  if (push !== undefined) throw new AgentError("push_unsupported", "BeeAI ACP has no push notifications", { sent: "no" });
  if (outputModes !== undefined) reportLossAt(reportLoss, "operation.outputModes", "array", "a run cannot request content types");
  if (metadata !== undefined) reportLossAt(reportLoss, "operation.metadata", "object", "a run request has no metadata");
  if (historyLength !== undefined)
    reportLossAt(reportLoss, "operation.historyLength", "number", "a run contains only its output");
}
