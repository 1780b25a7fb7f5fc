import { isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import type { RawRequest, RawResponse } from "../../ask.js";
import { demand, show } from "../../check.js";
import { OPERATIONS, type OperationName } from "../operations.js";
import { listenToEvents } from "./event-stream.js";
import { KIND_FORM, MODERN_FORM, OLD_PROTO_FORM } from "./forms.js";
import { MODERN_GRPC, OLD_GRPC } from "./grpc-wire.js";
import type { Answer, Wire } from "./wire.js";
import { seeRestError, seeRpcError } from "./wire-errors.js";

const JSON_TYPE = "application/json";
const modernHeaders = { "content-type": JSON_TYPE, accept: "application/json, text/event-stream", "a2a-version": "1.0" };
// 0.3 clients send no version header (A2A 1.0 §3.6.2: absent means 0.3).
const oldHeaders = { "content-type": JSON_TYPE, accept: "application/json, text/event-stream" };

function writeRpc(url: string, method: string, params: JsonObject, id: string): Pick<RawRequest, "method" | "url" | "body"> {
  return { method: "POST", url, body: JSON.stringify({ jsonrpc: "2.0", id, method, params }) };
}

/** A2A 1.0 §9: a JSON-RPC response with the id of the request, and either result or error. */
function readRpc(got: RawResponse, id: Maybe<string>): Answer {
  const body = got.json;
  if (got.status >= 400 && !(isObject(body) && isObject(body["error"]) && body["jsonrpc"] === "2.0"))
    return { got, result: undefined, error: seeRestError(body, got.status) };
  demand(isObject(body), `the answer is not a JSON object: ${got.status} ${show(got.text)}`);
  demand(body["jsonrpc"] === "2.0", `jsonrpc is ${show(body["jsonrpc"])}`);
  demand("result" in body !== "error" in body, `one of result and error is expected, got ${Object.keys(body).join(", ")}`);
  if (isObject(body["error"])) return { got, result: undefined, error: seeRpcError(body["error"], got.status) };
  demand(id === undefined || body["id"] === id, `id is ${show(body["id"])}, the request had ${show(id)}`);
  return { got, result: body["result"], error: undefined };
}

function readRest(got: RawResponse): Answer {
  if (got.status < 200 || got.status >= 300) return { got, result: undefined, error: seeRestError(got.json, got.status) };
  demand(got.text === "" || got.json !== undefined, `the answer is not JSON: ${show(got.text)}`);
  return { got, result: got.json ?? {}, error: undefined };
}

interface RestRow {
  readonly method: string;
  /** `{id}` and `{taskId}` are taken from the params. */
  readonly path: string;
  readonly old: Maybe<string>;
}

/** A2A 1.0 §11.3 and 0.3 §3.5.6. */
const REST = {
  SendMessage: { method: "POST", path: "/message:send", old: "/v1/message:send" },
  SendStreamingMessage: { method: "POST", path: "/message:stream", old: "/v1/message:stream" },
  GetTask: { method: "GET", path: "/tasks/{id}", old: "/v1/tasks/{id}" },
  ListTasks: { method: "GET", path: "/tasks", old: undefined },
  CancelTask: { method: "POST", path: "/tasks/{id}:cancel", old: "/v1/tasks/{id}:cancel" },
  SubscribeToTask: { method: "POST", path: "/tasks/{id}:subscribe", old: "/v1/tasks/{id}:subscribe" },
  CreateTaskPushNotificationConfig: {
    method: "POST",
    path: "/tasks/{taskId}/pushNotificationConfigs",
    old: "/v1/tasks/{taskId}/pushNotificationConfigs",
  },
  GetTaskPushNotificationConfig: {
    method: "GET",
    path: "/tasks/{taskId}/pushNotificationConfigs/{id}",
    old: "/v1/tasks/{taskId}/pushNotificationConfigs/{id}",
  },
  ListTaskPushNotificationConfigs: {
    method: "GET",
    path: "/tasks/{taskId}/pushNotificationConfigs",
    old: "/v1/tasks/{taskId}/pushNotificationConfigs",
  },
  DeleteTaskPushNotificationConfig: {
    method: "DELETE",
    path: "/tasks/{taskId}/pushNotificationConfigs/{id}",
    old: "/v1/tasks/{taskId}/pushNotificationConfigs/{id}",
  },
  GetExtendedAgentCard: { method: "GET", path: "/extendedAgentCard", old: "/v1/card" },
} as const satisfies Record<OperationName, RestRow>;

function writeRest(base: string, method: string, path: string, params: JsonObject): Pick<RawRequest, "method" | "url" | "body"> {
  const rest = new Map(Object.entries(params));
  // Body members are kept beside path parameters: `id` is that of the config on create.
  const filled = path.replace(/\{(\w+)\}/g, (_whole, name: string) => {
    const value = rest.get(name);
    rest.delete(name);
    return encodeURIComponent(String(value ?? ""));
  });
  if (method === "POST") return { method, url: base + filled, body: JSON.stringify(Object.fromEntries(rest)) };
  const query = new URLSearchParams();
  for (const [name, value] of rest) if (value !== undefined) query.set(name, String(value));
  const search = query.size === 0 ? "" : `?${query}`;
  return { method, url: base + filled + search, body: undefined };
}

/** A2A 0.3 §7.5 to §7.8: the config is nested, and `id` names the task. */
function oldPush(operation: OperationName, params: JsonObject): JsonObject {
  const { taskId, id, ...rest } = params;
  if (operation === "CreateTaskPushNotificationConfig") return { taskId, pushNotificationConfig: { id, ...rest } };
  return operation.includes("PushNotificationConfig") ? { id: taskId, pushNotificationConfigId: id } : params;
}

/** The proto defines the body as the config, the 0.3 SDK reads the whole request; both together satisfy either. */
function oldRestPush(operation: OperationName, params: JsonObject): JsonObject {
  const { taskId, id, ...rest } = params;
  if (operation !== "CreateTaskPushNotificationConfig") return params;
  const name = `tasks/${taskId}/pushNotificationConfigs/${id ?? ""}`;
  const config = { name, pushNotificationConfig: { id, ...rest } };
  return { taskId, parent: `tasks/${taskId}`, configId: id, config, ...config };
}

const RPC_ANSWERS: Pick<Wire, "read" | "listen"> = {
  read: readRpc,
  listen: (opened, id) => listenToEvents(opened, (got) => readRpc(got, id)),
};
const REST_ANSWERS: Pick<Wire, "read" | "listen"> = { read: readRest, listen: (opened) => listenToEvents(opened, readRest) };

export const MODERN_RPC: Wire = {
  version: "1.0",
  binding: "JSONRPC",
  name: "1.0:jsonrpc",
  form: MODERN_FORM,
  write: (at, operation, params, id) => ({
    ...writeRpc(at.url, operation, at.tenant === undefined ? params : { tenant: at.tenant, ...params }, id),
    headers: modernHeaders,
  }),
  ...RPC_ANSWERS,
};

export const MODERN_REST: Wire = {
  version: "1.0",
  binding: "HTTP+JSON",
  name: "1.0:rest",
  form: MODERN_FORM,
  write: (at, operation, params) => ({
    ...writeRest(
      at.tenant === undefined ? at.url : `${at.url}/${at.tenant}`,
      REST[operation].method,
      REST[operation].path,
      params,
    ),
    headers: modernHeaders,
  }),
  ...REST_ANSWERS,
};

export const OLD_RPC: Wire = {
  version: "0.3",
  binding: "JSONRPC",
  name: "0.3:jsonrpc",
  form: KIND_FORM,
  write(at, operation, params, id) {
    const method = OPERATIONS[operation].v03;
    if (method === undefined) return undefined;
    return { ...writeRpc(at.url, method, oldPush(operation, params), id), headers: oldHeaders };
  },
  ...RPC_ANSWERS,
};

export const OLD_REST: Wire = {
  version: "0.3",
  binding: "HTTP+JSON",
  name: "0.3:rest",
  form: OLD_PROTO_FORM,
  write(at, operation, params) {
    const { method, old } = REST[operation];
    if (old === undefined) return undefined;
    return { ...writeRest(at.url, method, old, oldRestPush(operation, params)), headers: oldHeaders };
  },
  ...REST_ANSWERS,
};

export const WIRES: readonly Wire[] = [MODERN_RPC, MODERN_REST, MODERN_GRPC, OLD_RPC, OLD_REST, OLD_GRPC];
