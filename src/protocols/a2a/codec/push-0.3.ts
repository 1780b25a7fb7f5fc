import type { JsonObject, LossSink, PushConfig } from "../../../envelope/index.js";
import { DecodeProblem, readObject, readText } from "../../../transport/fields.js";
import { plain, plainStrings, someText } from "../wire.js";
import { readDelivery, writeDelivery } from "./push-delivery.js";

const TASK = "tasks/";
const CONFIG = "/pushNotificationConfigs/";

/** PushNotificationConfig of 0.3, the same in both JSON forms. It may list several schemes; the first is the one used. */
export function readLegacyPush(value: unknown, path: string, taskId: string, reportLoss: LossSink): PushConfig {
  const object = readObject(value, path);
  return {
    taskId,
    id: plain(object.id, `${path}.id`) ?? "",
    url: readText(object.url, `${path}.url`),
    token: plain(object.token, `${path}.token`),
    authentication: readAuthentication(object.authentication, `${path}.authentication`, reportLoss),
    delivery: readDelivery(object.delivery),
  };
}

function readAuthentication(value: unknown, path: string, reportLoss: LossSink): PushConfig["authentication"] {
  if (value === undefined || value === null) return undefined;
  const object = readObject(value, path);
  const schemes = plainStrings(object.schemes, `${path}.schemes`);
  const [scheme] = schemes ?? [];
  const credentials = plain(object.credentials, `${path}.credentials`);
  if (scheme === undefined) {
    // An empty protobuf message is equivalent to an absent one.
    if (someText(credentials) === undefined) return undefined;
    throw new DecodeProblem(`${path}.schemes`, "must name a scheme");
  }
  if (schemes !== undefined && schemes.length > 1)
    reportLoss({
      protocol: "a2a",
      path: "push.authentication.scheme",
      valueKind: "array",
      reason: "only the first scheme is used",
    });
  return { scheme, credentials };
}

export function writeLegacyPush(config: PushConfig): JsonObject {
  const { authentication } = config;
  return {
    id: someText(config.id),
    url: config.url,
    token: someText(config.token),
    authentication:
      authentication === undefined
        ? undefined
        : { schemes: [authentication.scheme], credentials: someText(authentication.credentials) },
    delivery: writeDelivery(config.delivery),
  };
}

/** The JSON-RPC form: the task beside the config. */
export function readKindTaskPush(value: unknown, path: string, reportLoss: LossSink): PushConfig {
  const object = readObject(value, path);
  const at = path === "" ? "" : `${path}.`;
  const taskId = readText(object.taskId ?? object.task_id, `${at}taskId`);
  return readLegacyPush(
    object.pushNotificationConfig ?? object.push_notification_config,
    `${at}pushNotificationConfig`,
    taskId,
    reportLoss,
  );
}

export function writeKindTaskPush(config: PushConfig): JsonObject {
  return { taskId: config.taskId, pushNotificationConfig: writeLegacyPush(config) };
}

/** The REST form: the task is part of a resource name. */
export function readProtoTaskPush(value: unknown, path: string, reportLoss: LossSink): PushConfig {
  const object = readObject(value, path);
  const named = readPushName(plain(object.name, `${path}.name`) ?? "");
  const inner = object.pushNotificationConfig ?? object.push_notification_config;
  const config = readLegacyPush(inner, `${path}.pushNotificationConfig`, named.taskId, reportLoss);
  return config.id === "" ? { ...config, id: named.id } : config;
}

export function writeProtoTaskPush(config: PushConfig): JsonObject {
  return { name: pushName(config.taskId, config.id), pushNotificationConfig: writeLegacyPush(config) };
}

export function taskName(taskId: string): string {
  return `${TASK}${taskId}`;
}

export function pushName(taskId: string, id: string): string {
  return `${TASK}${taskId}${CONFIG}${id}`;
}

/** The task id in `tasks/{id}/…`. A bare id is accepted. */
export function readTaskName(name: string): string {
  return readPushName(name).taskId;
}

export function readPushName(name: string): { readonly taskId: string; readonly id: string } {
  const rest = name.startsWith(TASK) ? name.slice(TASK.length) : name;
  const at = rest.indexOf(CONFIG);
  return at < 0 ? { taskId: rest, id: "" } : { taskId: rest.slice(0, at), id: rest.slice(at + CONFIG.length) };
}
