import {
  AgentError,
  type AgentEvent,
  answerOf,
  type Envelope,
  type JsonObject,
  type Maybe,
  type Metadata,
  type Part,
  type Status,
  writeUte,
} from "../../envelope/index.js";

/** Identity and time are given, never taken from the air. */
export interface UteIds {
  /** Milliseconds since the epoch. */
  now(): number;
  newId(): string;
}

/** What answers a message, as a UTE document. What came over a wire has passed its limits; here nothing is too large. */
export function answerUte(event: AgentEvent, request: Envelope, ids: UteIds): JsonObject {
  const answer = event.kind === "message" ? event.message : envelopeOf(toldBy(event), request, ids);
  return writeUte(answer, { inlineBytes: Number.POSITIVE_INFINITY });
}

interface Told {
  readonly taskId: string;
  readonly contextId: string;
  readonly content: readonly Part[];
  readonly metadata: Metadata;
}

/** The events of a task as messages: content is what was said or made; `metadata.task` has the state, `metadata.artifact` its place. */
function toldBy(event: AgentEvent): Told {
  switch (event.kind) {
    case "task": {
      const { id: taskId, contextId, status, metadata } = event.task;
      return { taskId, contextId, content: answerOf(event.task), metadata: { ...metadata, task: stateOf(status) } };
    }
    case "status": {
      const { taskId, contextId, status, metadata } = event;
      return { taskId, contextId, content: status.message?.content ?? [], metadata: { ...metadata, task: stateOf(status) } };
    }
    case "artifact": {
      const { taskId, contextId, append, last, metadata } = event;
      const { id, name, parts } = event.artifact;
      const place: Metadata = name === undefined ? { id, append, last } : { id, name, append, last };
      return { taskId, contextId, content: parts, metadata: { ...metadata, artifact: place } };
    }
    default:
      throw new AgentError("bad_peer", `a message was answered with ${event.kind}`, { sent: "maybe" });
  }
}

function stateOf(status: Status): Metadata {
  const error = status.state === "failed" ? status.error : undefined;
  const { state } = status;
  return error === undefined ? { state } : { state, error: { code: error.code, message: error.message } };
}

function envelopeOf({ taskId, contextId, content, metadata }: Told, request: Envelope, ids: UteIds): Envelope {
  const parentId: Maybe<string> = request.id === "" ? undefined : request.id;
  return {
    id: ids.newId(),
    ts: ids.now() / 1000,
    src: request.dst,
    dst: request.src,
    intent: request.intent,
    role: "agent",
    content,
    context: { traceId: request.context.traceId, parentId, sessionId: contextId, taskId },
    meta: { protocolHint: undefined, retryCount: undefined },
    metadata,
  };
}
