import {
  AgentError,
  type Cursor,
  type JsonObject,
  type LossSink,
  type Operation,
  type OperationOf,
} from "../../../envelope/index.js";
import {
  DecodeProblem,
  kindOf,
  optional,
  readBoolean,
  readObject,
  readString,
  readStrings,
  readText,
} from "../../../transport/fields.js";
import { METHODS, type OperationName, PROTOCOL } from "../wire.js";
import { decodeMessage, encodeMessage } from "./message.js";
import type { DecodeFacts } from "./part.js";
import { readCount } from "./rpc-messages.js";
import { readNumber, readOneOf, STATES } from "./task.js";

/** A method of the described interface with its parameters. */
export interface EncodedCall {
  readonly method: string;
  readonly params: JsonObject;
}

/** Throws, before anything is sent, for operations that ANP does not have. */
export function encodeOperation(operation: Operation, reportLoss: LossSink): EncodedCall {
  switch (operation.kind) {
    case "send":
      return { method: METHODS.send, params: encodeSend(operation, reportLoss) };
    case "task.get":
      return { method: METHODS[operation.kind], params: { taskId: operation.taskId, historyLength: operation.historyLength } };
    case "task.list": {
      const { kind, ...query } = operation;
      return { method: METHODS[kind], params: query };
    }
    case "task.cancel": {
      const { kind, taskId, metadata, onlyOnce } = operation;
      return { method: METHODS[kind], params: { taskId, metadata, onlyOnce } };
    }
    case "task.subscribe": {
      const { kind, taskId, after, follow } = operation;
      return { method: METHODS[kind], params: { taskId, after, follow } };
    }
    case "card":
      return { method: METHODS.card, params: { extended: operation.extended ? true : undefined } };
    case "ping":
      return { method: METHODS.ping, params: {} };
    case "session.close":
      throw new AgentError("unsupported_method", "ANP cannot close a conversation", { sent: "no" });
    case "push.set":
    case "push.get":
    case "push.list":
    case "push.delete":
      throw new AgentError("push_unsupported", "ANP has no push notifications", { sent: "no" });
    default:
      return operation satisfies never;
  }
}

function encodeSend(send: OperationOf<"send">, reportLoss: LossSink): JsonObject {
  const { envelope, delivery, task, historyLength, after, outputModes, metadata, push } = send;
  if (push !== undefined)
    reportLoss({ protocol: PROTOCOL, path: "operation.push", valueKind: kindOf(push), reason: "ANP has no push notifications" });
  return {
    message: encodeMessage(envelope),
    delivery: delivery === "answer" ? undefined : delivery,
    task: task === "auto" ? undefined : task,
    historyLength,
    after,
    outputModes,
    metadata,
  };
}

const BY_METHOD: ReadonlyMap<string, OperationName> = new Map(
  (Object.keys(METHODS) as OperationName[]).map((name) => [METHODS[name], name]), // the keys of that very table
);

/** The operation of a method; undefined if it is not one of Koine's. */
export function operationOf(method: string): OperationName | undefined {
  return BY_METHOD.get(method);
}

/** Throws DecodeProblem. */
export function decodeOperation(name: OperationName, params: JsonObject, facts: DecodeFacts): Operation {
  const taskId = (): string => readText(params["taskId"], "params.taskId");
  switch (name) {
    case "send":
      return decodeSend(params, facts);
    case "task.get":
      return {
        kind: name,
        taskId: taskId(),
        historyLength: optional(params["historyLength"], "params.historyLength", readCount),
      };
    case "task.list":
      return decodeQuery(params);
    case "task.cancel":
      return {
        kind: name,
        taskId: taskId(),
        metadata: optional(params["metadata"], "params.metadata", readObject),
        onlyOnce: optional(params["onlyOnce"], "params.onlyOnce", readBoolean),
      };
    case "task.subscribe":
      return {
        kind: name,
        taskId: taskId(),
        after: optional(params["after"], "params.after", readCursor),
        follow: optional(params["follow"], "params.follow", readBoolean) ?? true,
      };
    case "card":
      return { kind: name, extended: optional(params["extended"], "params.extended", readBoolean) ?? false };
    case "ping":
      return { kind: name };
    default:
      return name satisfies never;
  }
}

function decodeSend(params: JsonObject, facts: DecodeFacts): OperationOf<"send"> {
  const delivery = optional(params["delivery"], "params.delivery", (value, path) =>
    readOneOf(["answer", "accepted", "stream"] as const, value, path),
  );
  return {
    kind: "send",
    envelope: decodeMessage(params["message"], "params.message", facts),
    delivery: delivery ?? "answer",
    task: optional(params["task"], "params.task", (value, path) => readOneOf(["auto", "always"], value, path)) ?? "auto",
    historyLength: optional(params["historyLength"], "params.historyLength", readCount),
    after: optional(params["after"], "params.after", readCursor),
    outputModes: optional(params["outputModes"], "params.outputModes", readStrings),
    metadata: optional(params["metadata"], "params.metadata", readObject),
  };
}

function decodeQuery(params: JsonObject): OperationOf<"task.list"> {
  return {
    kind: "task.list",
    contextId: optional(params["contextId"], "params.contextId", readString),
    idempotencyKey: optional(params["idempotencyKey"], "params.idempotencyKey", readString),
    state: optional(params["state"], "params.state", (value, path) => readOneOf(STATES, value, path)),
    changedSince: optional(params["changedSince"], "params.changedSince", readNumber),
    pageSize: optional(params["pageSize"], "params.pageSize", readCount),
    pageToken: optional(params["pageToken"], "params.pageToken", readString),
    historyLength: optional(params["historyLength"], "params.historyLength", readCount),
    artifacts: optional(params["artifacts"], "params.artifacts", readBoolean),
  };
}

/** The runtime checks it: a cursor of another task is refused there. */
function readCursor(value: unknown, path: string): Cursor {
  const cursor = readText(value, path);
  if (cursor.length > MAX_CURSOR_CHARS) throw new DecodeProblem(path, `has more than ${MAX_CURSOR_CHARS} characters`);
  return cursor as Cursor; // opaque here
}

const MAX_CURSOR_CHARS = 4_096;

/** Whether the answer is a stream of events. */
export function streams(operation: Operation): boolean {
  return operation.kind === "task.subscribe" || (operation.kind === "send" && operation.delivery === "stream");
}
