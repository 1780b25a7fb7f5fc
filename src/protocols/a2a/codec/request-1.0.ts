import type { JsonObject, LossSink, Maybe, Operation, OperationOf } from "../../../envelope/index.js";
import { DecodeProblem, readObject, readText } from "../../../transport/fields.js";
import { readTimestamp, writeTimestamp } from "../../../transport/timestamp.js";
import type { DecodeFacts } from "../dialect.js";
import type { OperationName } from "../operations.js";
import { flag, historyLengthOf, plain, plainStrings, readMetadata, readParams, someOf, someText, whole } from "../wire.js";
import { FORM_1_0 } from "./form-1.0.js";
import { readMessage, writeMessage } from "./message.js";
import { readPush, writePush } from "./push-1.0.js";
import { readState, writeState } from "./state.js";

export interface Encoded {
  readonly name: OperationName;
  readonly params: JsonObject;
}

/** Params of any operation of 1.0, from either binding (query strings give numbers and enums as text). */
export function readRequest(name: OperationName, given: unknown, facts: DecodeFacts): Operation {
  const params = readParams(given);
  switch (name) {
    case "SendMessage":
    case "SendStreamingMessage":
      return readSend(params, name === "SendStreamingMessage", facts);
    case "GetTask":
      return { kind: "task.get", taskId: idOf(params), historyLength: lengthOf(params, "historyLength") };
    case "ListTasks":
      return readList(params);
    case "CancelTask":
      return { kind: "task.cancel", taskId: idOf(params), metadata: readMetadata(params.metadata, "metadata") };
    case "SubscribeToTask":
      return { kind: "task.subscribe", taskId: idOf(params), after: undefined, follow: true };
    case "CreateTaskPushNotificationConfig":
      readText(params.taskId ?? params.task_id, "taskId");
      return { kind: "push.set", config: readPush(params, "", "") };
    case "GetTaskPushNotificationConfig":
      return { kind: "push.get", taskId: readText(params.taskId ?? params.task_id, "taskId"), id: idOf(params) };
    case "DeleteTaskPushNotificationConfig":
      return { kind: "push.delete", taskId: readText(params.taskId ?? params.task_id, "taskId"), id: idOf(params) };
    case "ListTaskPushNotificationConfigs":
      return {
        kind: "push.list",
        taskId: readText(params.taskId ?? params.task_id, "taskId"),
        // A plain int32: zero is the default and means any.
        pageSize: whole(params.pageSize ?? params.page_size, "pageSize") || undefined,
        pageToken: plain(params.pageToken ?? params.page_token, "pageToken"),
      };
    case "GetExtendedAgentCard":
      return { kind: "card", extended: true };
    default:
      return name satisfies never;
  }
}

function readSend(params: JsonObject, streaming: boolean, facts: DecodeFacts): Operation {
  const envelope = readMessage(FORM_1_0, params.message, "message", facts);
  const metadata = readMetadata(params.metadata, "metadata");
  const given = params.configuration;
  if (given === undefined || given === null)
    return {
      kind: "send",
      envelope,
      delivery: streaming ? "stream" : "answer",
      task: "auto",
      historyLength: undefined,
      outputModes: undefined,
      push: undefined,
      metadata,
    };
  const config = readObject(given, "configuration");
  const atOnce = flag(config.returnImmediately ?? config.return_immediately, "configuration.returnImmediately");
  const push = config.taskPushNotificationConfig ?? config.task_push_notification_config;
  return {
    kind: "send",
    envelope,
    delivery: streaming ? "stream" : atOnce === true ? "accepted" : "answer",
    task: "auto",
    historyLength: lengthOf(config, "configuration.historyLength"),
    outputModes: plainStrings(config.acceptedOutputModes ?? config.accepted_output_modes, "configuration.acceptedOutputModes"),
    push:
      push === undefined || push === null
        ? undefined
        : readPush(push, "configuration.taskPushNotificationConfig", envelope.context.taskId ?? ""),
    metadata,
  };
}

export function readList(params: JsonObject): OperationOf<"task.list"> {
  const since = params.statusTimestampAfter ?? params.status_timestamp_after;
  const pageSize = whole(params.pageSize ?? params.page_size, "pageSize");
  if (pageSize !== undefined && pageSize < 0) throw new DecodeProblem("pageSize", `must not be negative, but is ${pageSize}`);
  const state = params.status === "" ? "unknown" : readState(params.status, "status");
  return {
    kind: "task.list",
    contextId: plain(params.contextId ?? params.context_id, "contextId"),
    idempotencyKey: plain(params.idempotencyKey ?? params.idempotency_key, "idempotencyKey"),
    // The zero value of the enum means no filter.
    state: state === "unknown" ? undefined : state,
    changedSince:
      since === undefined || since === null || since === "" ? undefined : readTimestamp(since, "statusTimestampAfter"),
    pageSize,
    pageToken: plain(params.pageToken ?? params.page_token, "pageToken"),
    historyLength: lengthOf(params, "historyLength"),
    artifacts: flag(params.includeArtifacts ?? params.include_artifacts, "includeArtifacts"),
  };
}

function idOf(params: JsonObject): string {
  return readText(params.id, "id");
}

export function lengthOf(object: JsonObject, path: string): Maybe<number> {
  return historyLengthOf(object.historyLength ?? object.history_length, path);
}

/** Undefined if A2A has no such operation. */
export function writeRequest(operation: Operation, tenant: Maybe<string>, reportLoss: LossSink): Maybe<Encoded> {
  const inTenant = someText(tenant);
  switch (operation.kind) {
    case "send":
      return writeSend(operation, inTenant, reportLoss);
    case "task.get":
      return { name: "GetTask", params: { tenant: inTenant, id: operation.taskId, historyLength: operation.historyLength } };
    case "task.list":
      return { name: "ListTasks", params: writeList(operation, inTenant, reportLoss) };
    case "task.cancel":
      return { name: "CancelTask", params: { tenant: inTenant, id: operation.taskId, metadata: operation.metadata } };
    case "task.subscribe":
      return { name: "SubscribeToTask", params: { tenant: inTenant, id: operation.taskId } };
    case "push.set":
      return { name: "CreateTaskPushNotificationConfig", params: writePush(operation.config, inTenant) };
    case "push.get":
      return { name: "GetTaskPushNotificationConfig", params: { tenant: inTenant, taskId: operation.taskId, id: operation.id } };
    case "push.delete":
      return {
        name: "DeleteTaskPushNotificationConfig",
        params: { tenant: inTenant, taskId: operation.taskId, id: operation.id },
      };
    case "push.list": {
      const { taskId, pageSize, pageToken } = operation;
      return { name: "ListTaskPushNotificationConfigs", params: { tenant: inTenant, taskId, pageSize, pageToken } };
    }
    case "card":
      return operation.extended ? { name: "GetExtendedAgentCard", params: { tenant: inTenant } } : undefined;
    case "session.close":
    case "ping":
      return undefined;
    default:
      return operation satisfies never;
  }
}

function writeSend(operation: OperationOf<"send">, tenant: Maybe<string>, reportLoss: LossSink): Encoded {
  const { delivery, historyLength, outputModes, push } = operation;
  const acceptedOutputModes = someOf(outputModes);
  const plainSend =
    delivery !== "accepted" && historyLength === undefined && acceptedOutputModes === undefined && push === undefined;
  const configuration = plainSend
    ? undefined
    : {
        acceptedOutputModes,
        taskPushNotificationConfig: push === undefined ? undefined : writePush(push, undefined),
        historyLength,
        returnImmediately: delivery === "accepted" ? true : undefined,
      };
  return {
    name: delivery === "stream" ? "SendStreamingMessage" : "SendMessage",
    params: {
      tenant,
      message: writeMessage(FORM_1_0, operation.envelope, "message", reportLoss),
      configuration,
      metadata: operation.metadata,
    },
  };
}

/** `idempotencyKey` is a Koine extension that finds the task of a lost send. Other servers ignore it. */
function writeList(operation: OperationOf<"task.list">, tenant: Maybe<string>, reportLoss: LossSink): JsonObject {
  const { state, changedSince } = operation;
  return {
    tenant,
    contextId: someText(operation.contextId),
    status: state === undefined ? undefined : writeState(state, reportLoss),
    pageSize: operation.pageSize,
    pageToken: someText(operation.pageToken),
    historyLength: operation.historyLength,
    statusTimestampAfter: changedSince === undefined ? undefined : writeTimestamp(changedSince),
    includeArtifacts: operation.artifacts,
    idempotencyKey: operation.idempotencyKey,
  };
}
