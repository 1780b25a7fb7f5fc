import type { JsonObject, LossSink, Maybe, Operation, OperationOf, PushConfig } from "../../../envelope/index.js";
import { DecodeProblem, readObject, readText } from "../../../transport/fields.js";
import type { DecodeFacts } from "../dialect.js";
import type { OperationName } from "../operations.js";
import { flag, plain, plainStrings, readMetadata, readParams, someOf } from "../wire.js";
import type { Form } from "./form.js";
import { readMessage, writeMessage } from "./message.js";
import {
  pushName,
  readKindTaskPush,
  readLegacyPush,
  readPushName,
  readTaskName,
  taskName,
  writeKindTaskPush,
  writeLegacyPush,
  writeProtoTaskPush,
} from "./push-0.3.js";
import { type Encoded, lengthOf, readList } from "./request-1.0.js";

/** Params of any operation of 0.3: `kind` objects on JSON-RPC, ProtoJSON and resource names on REST. */
export function readLegacyRequest(form: Form, name: OperationName, given: unknown, facts: DecodeFacts): Operation {
  const params = readParams(given);
  switch (name) {
    case "SendMessage":
    case "SendStreamingMessage":
      return readSend(form, params, name === "SendStreamingMessage", facts);
    case "GetTask":
      return { kind: "task.get", taskId: taskIdOf(params), historyLength: lengthOf(params, "historyLength") };
    case "ListTasks":
      if (form.kinds) throw new DecodeProblem("method", "is not known in 0.3", "unsupported_method");
      return readList(params);
    case "CancelTask":
      // 0.3 §8.2 has no exception for a task that is already canceled; 1.0 §3.3.1 added one.
      return {
        kind: "task.cancel",
        taskId: taskIdOf(params),
        metadata: readMetadata(params.metadata, "metadata"),
        onlyOnce: true,
      };
    case "SubscribeToTask":
      return { kind: "task.subscribe", taskId: taskIdOf(params), after: undefined, follow: true };
    case "CreateTaskPushNotificationConfig":
      return {
        kind: "push.set",
        config: withId(form.kinds ? readKindTaskPush(params, "", facts.reportLoss) : readProtoCreate(params, facts)),
      };
    case "GetTaskPushNotificationConfig":
      return { kind: "push.get", ...readPushIds(params, form.kinds) };
    case "DeleteTaskPushNotificationConfig":
      return { kind: "push.delete", ...readPushIds(params, form.kinds) };
    case "ListTaskPushNotificationConfigs":
      return {
        kind: "push.list",
        taskId: readText(params.taskId ?? nameOf(params, "parent") ?? params.id, "id"),
        pageSize: undefined,
        pageToken: undefined,
      };
    case "GetExtendedAgentCard":
      return { kind: "card", extended: true };
    default:
      return name satisfies never;
  }
}

function readSend(form: Form, params: JsonObject, streaming: boolean, facts: DecodeFacts): Operation {
  // The protobuf field is `request`; its JSON name is `message`.
  const envelope = readMessage(form, params.message ?? (form.kinds ? undefined : params.request), "message", facts);
  const given = params.configuration;
  const config = given === undefined || given === null ? undefined : readObject(given, "configuration");
  const member = form.kinds ? "pushNotificationConfig" : "pushNotification";
  const push = config?.[member] ?? (form.kinds ? config?.push_notification_config : config?.push_notification);
  const waits = config === undefined || isBlocking(form, config);
  return {
    kind: "send",
    envelope,
    delivery: streaming ? "stream" : waits ? "answer" : "accepted",
    task: "auto",
    historyLength: config === undefined ? undefined : lengthOf(config, "configuration.historyLength"),
    outputModes: plainStrings(config?.acceptedOutputModes ?? config?.accepted_output_modes, "configuration.acceptedOutputModes"),
    push:
      push === undefined || push === null
        ? undefined
        : readLegacyPush(push, `configuration.${member}`, envelope.context.taskId ?? "", facts.reportLoss),
    metadata: readMetadata(params.metadata, "metadata"),
  };
}

/** If absent: true on JSON-RPC, as in 0.3 servers; false in ProtoJSON, which omits defaults. */
function isBlocking(form: Form, config: JsonObject): boolean {
  return flag(config.blocking, "configuration.blocking") ?? form.kinds;
}

/** A task id as `id`, or inside a resource name. */
function taskIdOf(params: JsonObject): string {
  return readText(params.id ?? nameOf(params, "name"), "id");
}

function nameOf(params: JsonObject, member: "name" | "parent"): Maybe<string> {
  const name = plain(params[member], member);
  return name === undefined ? undefined : readTaskName(name);
}

/** Before 0.3.0 a task had one config without an id; the id of the task is used. */
function withId<T extends { readonly taskId: string; readonly id: string }>(named: T): T {
  return named.id === "" ? { ...named, id: named.taskId } : named;
}

/** JSON-RPC names the task `id`; a REST path has `taskId` and `id`, protobuf one resource name. */
function readPushIds(params: JsonObject, kinds: boolean): { readonly taskId: string; readonly id: string } {
  if (kinds) {
    const id = params.pushNotificationConfigId ?? params.push_notification_config_id;
    const taskId = readText(params.id, "id");
    return withId({ taskId, id: plain(id, "pushNotificationConfigId") ?? "" });
  }
  if (params.taskId != null) return { taskId: readText(params.taskId, "taskId"), id: readText(params.id, "id") };
  const named = readPushName(readText(params.name, "name"));
  return { taskId: readText(named.taskId, "name"), id: readText(named.id, "name") };
}

/** CreateTaskPushNotificationConfigRequest: `{parent, configId, config: {pushNotificationConfig}}`, or the config itself. */
function readProtoCreate(params: JsonObject, { reportLoss }: DecodeFacts): PushConfig {
  const taskId = readText(params.taskId ?? nameOf(params, "parent"), "parent");
  const outer = params.config == null ? params : readObject(params.config, "config");
  const at = params.config == null ? "" : "config.";
  const inner = outer.pushNotificationConfig ?? outer.push_notification_config;
  const config = readLegacyPush(inner, `${at}pushNotificationConfig`, taskId, reportLoss);
  const id = plain(params.configId ?? params.config_id, "configId");
  return config.id === "" && id !== undefined ? { ...config, id } : config;
}

/** Undefined if 0.3 has no such operation. */
export function writeLegacyRequest(
  form: Form,
  operation: Operation,
  tenant: Maybe<string>,
  reportLoss: LossSink,
): Maybe<Encoded> {
  if (tenant !== undefined && tenant !== "") reportOptionLoss("operation.tenant", "string", "0.3 has no tenants", reportLoss);
  switch (operation.kind) {
    case "send":
      return writeSend(form, operation, reportLoss);
    case "task.get":
      return {
        name: "GetTask",
        params: { id: operation.taskId, historyLength: writeLength(form, operation.historyLength, reportLoss) },
      };
    case "task.list":
      // In the prose of 0.3 REST but not in its proto: 1.0 servers take the path for a tenant and answer with an empty page.
      return undefined;
    case "task.cancel":
      return { name: "CancelTask", params: { id: operation.taskId, metadata: operation.metadata } };
    case "task.subscribe":
      return { name: "SubscribeToTask", params: { id: operation.taskId } };
    case "push.set":
      return { name: "CreateTaskPushNotificationConfig", params: writeCreate(form, operation.config) };
    case "push.get":
      return { name: "GetTaskPushNotificationConfig", params: writePushIds(form, operation) };
    case "push.delete":
      return { name: "DeleteTaskPushNotificationConfig", params: writePushIds(form, operation) };
    case "push.list":
      if (operation.pageSize !== undefined || operation.pageToken !== undefined)
        reportOptionLoss("operation.pageToken", "page", "0.3 lists all push configs at once", reportLoss);
      return {
        name: "ListTaskPushNotificationConfigs",
        params: form.kinds ? { id: operation.taskId } : { taskId: operation.taskId, parent: taskName(operation.taskId) },
      };
    case "card":
      return operation.extended ? { name: "GetExtendedAgentCard", params: {} } : undefined;
    case "session.close":
    case "ping":
      return undefined;
    default:
      return operation satisfies never;
  }
}

function writeSend(form: Form, operation: OperationOf<"send">, reportLoss: LossSink): Encoded {
  const push = operation.push === undefined ? undefined : writeLegacyPush(operation.push);
  const acceptedOutputModes = someOf(operation.outputModes);
  const historyLength = writeLength(form, operation.historyLength, reportLoss);
  // The default of `blocking` was never defined, so it is always sent.
  const blocking = operation.delivery !== "accepted";
  const configuration = form.kinds
    ? { acceptedOutputModes, pushNotificationConfig: push, historyLength, blocking }
    : { acceptedOutputModes, pushNotification: push, historyLength, blocking };
  return {
    name: operation.delivery === "stream" ? "SendStreamingMessage" : "SendMessage",
    params: {
      message: writeMessage(form, operation.envelope, "message", reportLoss),
      configuration,
      metadata: operation.metadata,
    },
  };
}

function writeLength(form: Form, length: Maybe<number>, reportLoss: LossSink): Maybe<number> {
  if (length === 0 && !form.kinds)
    reportOptionLoss("operation.historyLength", "number", "in 0.3 protobuf zero is the same as absent", reportLoss);
  return length;
}

function writeCreate(form: Form, config: PushConfig): JsonObject {
  if (form.kinds) return writeKindTaskPush(config);
  const { taskId, id } = config;
  return { taskId, parent: taskName(taskId), configId: id === "" ? undefined : id, config: writeProtoTaskPush(config) };
}

function writePushIds(form: Form, { taskId, id }: { readonly taskId: string; readonly id: string }): JsonObject {
  return form.kinds ? { id: taskId, pushNotificationConfigId: id } : { taskId, id, name: pushName(taskId, id) };
}

function reportOptionLoss(path: string, valueKind: string, reason: string, reportLoss: LossSink): void {
  reportLoss({ protocol: "a2a", path, valueKind, reason });
}
