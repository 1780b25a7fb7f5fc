import {
  AgentError,
  type Cursor,
  type JsonObject,
  type LossSink,
  type Operation,
  type OperationOf,
} from "../../../src/envelope/index.js";
import { optional, readBoolean, readString, readText } from "../../../src/transport/fields.js";
import { OPS, type Op, readCount } from "../wire.js";
import {
  type DecodeLimits,
  decodeMembers,
  decodeMessage,
  encodeMessage,
  lose,
  type Readers,
  readMetadata,
  readNumber,
  readOneOf,
} from "./message.js";
import { STATES } from "./task.js";

type Query = Omit<OperationOf<"task.list">, "kind">;
const QUERY: Readers<Query> = {
  contextId: readString,
  idempotencyKey: readString,
  state: (value, path) => readOneOf(STATES, value, path),
  changedSince: readNumber,
  pageSize: readCount,
  pageToken: readString,
  historyLength: readCount,
  artifacts: readBoolean,
};

/** An operation as `op` and `args`. Throws, before anything is sent, for those that the wire does not have. */
export function encodeOperation(operation: Operation, reportLoss: LossSink): { readonly op: Op; readonly args: JsonObject } {
  switch (operation.kind) {
    case "send":
      return { op: "send", args: encodeSend(operation, reportLoss) };
    case "task.get":
      return { op: "task.get", args: { taskId: operation.taskId, historyLength: operation.historyLength } };
    case "task.list": {
      const { kind, ...query } = operation;
      return { op: kind, args: query };
    }
    case "task.cancel": {
      const { taskId, metadata, onlyOnce } = operation;
      return { op: "task.cancel", args: { taskId, metadata, onlyOnce } };
    }
    case "task.subscribe":
      return { op: "task.subscribe", args: { taskId: operation.taskId, after: operation.after, follow: operation.follow } };
    case "card":
      return { op: "card", args: { extended: operation.extended } };
    case "ping":
      return { op: "ping", args: {} };
    case "session.close":
      throw new AgentError("unsupported_method", "the session toy closes no conversations", { sent: "no" });
    case "push.set":
    case "push.get":
    case "push.list":
    case "push.delete":
      throw new AgentError("push_unsupported", "the session toy has no push notifications", { sent: "no" });
    default:
      return operation satisfies never;
  }
}

function encodeSend(send: OperationOf<"send">, reportLoss: LossSink): JsonObject {
  const { envelope, delivery, task, historyLength, after, outputModes, metadata, push } = send;
  lose(reportLoss, "operation.outputModes", outputModes, "a call of the session toy cannot request content types");
  lose(reportLoss, "operation.metadata", metadata, "a call of the session toy has no metadata");
  lose(reportLoss, "operation.push", push, "the session toy has no push notifications");
  return { message: encodeMessage(envelope, "message", reportLoss), delivery, task, historyLength, after };
}

export function isOp(op: string): op is Op {
  return OPS.some((each) => each === op);
}

export function decodeOperation(op: Op, args: JsonObject, limits: DecodeLimits): Operation {
  const taskId = (): string => readText(args["taskId"], "args.taskId");
  switch (op) {
    case "send":
      return {
        kind: "send",
        envelope: decodeMessage(args["message"], "args.message", limits),
        delivery: readOneOf(["answer", "accepted", "stream"], args["delivery"], "args.delivery"),
        task: optional(args["task"], "args.task", (value, path) => readOneOf(["auto", "always"], value, path)) ?? "auto",
        historyLength: optional(args["historyLength"], "args.historyLength", readCount),
        after: optional(args["after"], "args.after", readCursor),
      };
    case "task.get":
      return { kind: op, taskId: taskId(), historyLength: optional(args["historyLength"], "args.historyLength", readCount) };
    case "task.list":
      return { kind: op, ...decodeMembers(args, "args", QUERY) };
    case "task.cancel":
      return {
        kind: op,
        taskId: taskId(),
        metadata: optional(args["metadata"], "args.metadata", readMetadata),
        onlyOnce: optional(args["onlyOnce"], "args.onlyOnce", readBoolean),
      };
    case "task.subscribe":
      return {
        kind: op,
        taskId: taskId(),
        after: optional(args["after"], "args.after", readCursor),
        follow: readBoolean(args["follow"], "args.follow"),
      };
    case "card":
      return { kind: op, extended: optional(args["extended"], "args.extended", readBoolean) ?? false };
    case "ping":
      return { kind: op };
    default:
      return op satisfies never;
  }
}

/** The runtime checks it: a cursor of another task is refused there. */
function readCursor(value: unknown, path: string): Cursor {
  return readText(value, path) as Cursor;
}
