import {
  AgentError,
  type Envelope,
  type Layer,
  type Maybe,
  type Metadata,
  type Operation,
  type Part,
} from "../envelope/index.js";
import type { Limits } from "../transport/limits.js";

/**
 * Refuses operations with ids, names or context members that are too long. They are kept, indexed and logged beside the content, which
 * has limits of its own: without this, a short request with a long id would be stored many times over.
 */
export function limitMembers(limits: Limits): Layer {
  return (next) => (operation, call) => {
    const problem = problemIn(operation, limits);
    return problem === undefined ? next(operation, call) : Promise.reject(problem);
  };
}

function problemIn(operation: Operation, limits: Limits): Maybe<AgentError> {
  const { idChars } = limits;
  switch (operation.kind) {
    case "send":
      return problemInMessage(operation.envelope, limits) ?? longName(operation.metadata, "metadata", idChars);
    case "task.list":
      return tooLong(operation.contextId, "contextId", idChars) ?? tooLong(operation.idempotencyKey, "idempotencyKey", idChars);
    case "push.set":
      return noSuchTask(operation.config.taskId, idChars) ?? tooLong(operation.config.id, "id", idChars);
    case "push.get":
    case "push.delete":
      return noSuchTask(operation.taskId, idChars) ?? tooLong(operation.id, "id", idChars);
    case "task.get":
    case "task.cancel":
    case "task.subscribe":
    case "push.list":
      return noSuchTask(operation.taskId, idChars);
    case "session.close":
      return tooLong(operation.sessionId, "sessionId", idChars);
    case "card":
    case "ping":
      return undefined;
    default:
      return operation satisfies never;
  }
}

function problemInMessage(message: Envelope, { idChars, contextChars }: Limits): Maybe<AgentError> {
  const { context, meta, metadata, content } = message;
  const problem =
    tooLong(message.id, "message.id", idChars) ??
    tooLong(message.src, "message.src", idChars) ??
    tooLong(message.dst, "message.dst", idChars) ??
    tooLong(message.intent, "message.intent", idChars) ??
    tooLong(meta.protocolHint, "message.meta.protocolHint", idChars) ??
    tooLong(context.traceId, "message.context.traceId", idChars) ??
    tooLong(context.parentId, "message.context.parentId", idChars) ??
    tooLong(context.idempotencyKey, "message.context.idempotencyKey", idChars) ??
    tooLong(context.sessionId, "message.context.sessionId", idChars) ??
    tooLong(context.taskId, "message.context.taskId", idChars) ??
    tooLong(context.minVersion, "message.context.minVersion", idChars) ??
    tooLong(context.maxVersion, "message.context.maxVersion", idChars) ??
    longName(metadata, "message.metadata", idChars);
  if (problem !== undefined) return problem;
  for (let index = 0; index < content.length; index++) {
    const { metadata: names } = content[index] as Part; // index < length
    const at = names && longName(names, `message.parts[${index}].metadata`, idChars);
    if (at !== undefined) return at;
  }
  const listed =
    charsIn(context.artifactRefs) + charsIn(context.tags) + charsIn(message.references) + charsIn(message.extensions);
  return listed > contextChars
    ? refuse("message.context", `its lists have ${listed} characters in all; the limit is ${contextChars}`)
    : undefined;
}

function tooLong(value: Maybe<string>, field: string, limit: number): Maybe<AgentError> {
  return value === undefined || value.length <= limit
    ? undefined
    : refuse(field, `it has ${value.length} characters; the limit is ${limit}`);
}

/** No task has such an id. */
function noSuchTask(taskId: Maybe<string>, limit: number): Maybe<AgentError> {
  return taskId === undefined || taskId.length <= limit ? undefined : new AgentError("task_not_found", "unknown task");
}

function longName(metadata: Maybe<Metadata>, field: string, limit: number): Maybe<AgentError> {
  for (const name in metadata)
    if (name.length > limit) return refuse(field, `a name in it has ${name.length} characters; the limit is ${limit}`);
  return undefined;
}

function charsIn(list: Maybe<readonly string[]>): number {
  let chars = 0;
  if (list !== undefined) for (const item of list) chars += item.length;
  return chars;
}

function refuse(field: string, why: string): AgentError {
  return new AgentError("too_large", `${field}: ${why}`, { field });
}
