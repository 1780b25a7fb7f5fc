import {
  AgentError,
  type AgentEvent,
  answerOf,
  type Envelope,
  type IdSource,
  type JsonObject,
  type Maybe,
  type Metadata,
  type Part,
  type Status,
  writeUte,
} from "../../envelope/index.js";

/** The answer to a message as a UTE document. Size limits were checked by the transport. */
export function answerUte(event: AgentEvent, request: Envelope, ids: IdSource): JsonObject {
  const answer = event.kind === "message" ? event.message : envelopeOf(taskFields(event), request, ids);
  return writeUte(answer, { inlineBytes: Number.POSITIVE_INFINITY });
}

interface TaskFields {
  readonly taskId: string;
  readonly contextId: string;
  readonly content: readonly Part[];
  readonly metadata: Metadata;
}

/** The events of a task as messages: `content` has the parts, `metadata.task` the state, `metadata.artifact` the artifact's id. */
function taskFields(event: AgentEvent): TaskFields {
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
      const artifact: Metadata = name === undefined ? { id, append, last } : { id, name, append, last };
      return { taskId, contextId, content: parts, metadata: { ...metadata, artifact: artifact } };
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

function envelopeOf({ taskId, contextId, content, metadata }: TaskFields, request: Envelope, ids: IdSource): Envelope {
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
