import type { JsonObject, Maybe, PushConfig } from "../../../envelope/index.js";
import { readObject, readText } from "../../../transport/fields.js";
import { plain, someText } from "../wire.js";
import { readDelivery, writeDelivery } from "./push-delivery.js";

/** TaskPushNotificationConfig of 1.0: flat, one authentication scheme. `taskId` is the default for an object without a task. */
export function readPush(value: unknown, path: string, taskId: string): PushConfig {
  const object = readObject(value, path);
  const at = path === "" ? "" : `${path}.`;
  return {
    taskId: plain(object.taskId ?? object.task_id, `${at}taskId`) ?? taskId,
    id: plain(object.id, `${at}id`) ?? "",
    url: readText(object.url, `${at}url`),
    token: plain(object.token, `${at}token`),
    authentication: readAuthentication(object.authentication, `${at}authentication`),
    delivery: readDelivery(object.delivery),
  };
}

function readAuthentication(value: unknown, path: string): PushConfig["authentication"] {
  if (value === undefined || value === null) return undefined;
  const object = readObject(value, path);
  return {
    scheme: readText(object.scheme, `${path}.scheme`),
    credentials: plain(object.credentials, `${path}.credentials`),
  };
}

export function writePush(config: PushConfig, tenant: Maybe<string>): JsonObject {
  const { authentication } = config;
  return {
    tenant: someText(tenant),
    id: someText(config.id),
    taskId: someText(config.taskId),
    url: config.url,
    token: someText(config.token),
    authentication:
      authentication === undefined
        ? undefined
        : { scheme: authentication.scheme, credentials: someText(authentication.credentials) },
    delivery: writeDelivery(config.delivery),
  };
}
