import { AgentError, type ErrorCode, isObject, type JsonObject, type Maybe } from "../../../envelope/index.js";
import { encodeSegment, withoutTrailingSlashes } from "../../../transport/address-parts.js";
import type { HttpRequest, HttpResponse } from "../../../transport/exchange.js";
import { badPeer, jsonBody, refuseRedirect } from "../../../transport/peer-answer.js";
import { makeRequest } from "../../../transport/request.js";
import { errorFromRest } from "../errors.js";
import type { OperationName } from "../operations.js";
import { type ClientBinding, commonHeaders, type Outgoing } from "./binding.js";

export const restBinding: ClientBinding = {
  name: "HTTP+JSON",

  write(outgoing: Outgoing): HttpRequest {
    const { peer, name, call } = outgoing;
    const { method, path, params } = restTarget(name, outgoing.params, peer.version);
    const base = withoutTrailingSlashes(peer.url);
    const tenant = peer.tenant === undefined || peer.version === "0.3" ? "" : `/${encodeURIComponent(peer.tenant)}`;
    const version = peer.version === "0.3" ? "/v1" : "";
    const headers = commonHeaders(outgoing);
    if (method !== "POST") {
      return makeRequest({ method, url: `${base}${version}${tenant}${path}${queryOf(params)}`, headers, call });
    }
    headers["content-type"] = "application/json";
    return makeRequest({
      method,
      url: `${base}${version}${tenant}${path}`,
      headers,
      body: JSON.stringify(params),
      call,
    });
  },

  readResult(response: HttpResponse, { name, peer }: Outgoing): unknown {
    refuseRedirect(response);
    if (response.status >= 300) throw restFailure(response, name, peer.version);
    const body = jsonBody(response);
    if (body !== undefined) return body;
    // Some servers answer a delete with 204 and no body.
    if (name === "DeleteTaskPushNotificationConfig") return {};
    throw badPeer(response, "the answer is empty");
  },

  readItem(data: unknown): unknown {
    if (isObject(data) && "error" in data) throw errorFromRest(500, data, {});
    return data;
  },
};

function restFailure(response: HttpResponse, name: OperationName, version: string): AgentError {
  let body: unknown;
  try {
    body = jsonBody(response);
  } catch {
    // Not JSON: use the HTTP status alone.
  }
  const error = errorFromRest(response.status, body, response.headers);
  const code = version === "0.3" && isBareMessage(body) ? meantBy(response.status, name) : undefined;
  return code === undefined ? error : new AgentError(code, error.message, error.facts);
}

/** The 404 body of the first Python 0.3 servers on REST; frameworks without the path answer differently. */
function isBareMessage(body: unknown): boolean {
  return isObject(body) && typeof body["message"] === "string" && Object.keys(body).length === 1;
}

function meantBy(status: number, name: OperationName): Maybe<ErrorCode> {
  if (status === 404 && name !== "ListTasks" && name !== "GetExtendedAgentCard") return "task_not_found";
  return status === 409 && name === "CancelTask" ? "not_cancelable" : undefined;
}

interface RestTarget {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  /** The parameters that are not in the path. */
  readonly params: JsonObject;
}

/** A2A 1.0 §5.3. 0.3 names its resources in `name`, `parent` and `id` members, and lists and reads by the same paths. */
function restTarget(name: OperationName, all: JsonObject, version: string): RestTarget {
  const { tenant: _, ...params } = all;
  switch (name) {
    case "SendMessage":
      return { method: "POST", path: "/message:send", params: all };
    case "SendStreamingMessage":
      return { method: "POST", path: "/message:stream", params: all };
    case "ListTasks":
      return { method: "GET", path: "/tasks", params };
    case "GetExtendedAgentCard":
      return { method: "GET", path: version === "0.3" ? "/card" : "/extendedAgentCard", params: {} };
    case "GetTask":
      return { method: "GET", ...taskPath(params, "") };
    case "CancelTask":
      return { method: "POST", ...taskPath(params, ":cancel") };
    case "SubscribeToTask":
      // The 0.3 proto and its servers support only GET here (C3).
      return { method: version === "0.3" ? "GET" : "POST", ...taskPath(params, ":subscribe") };
    case "CreateTaskPushNotificationConfig":
      return { method: "POST", ...configPath(params, false) };
    case "ListTaskPushNotificationConfigs":
      return { method: "GET", ...configPath(params, false) };
    case "GetTaskPushNotificationConfig":
      return { method: "GET", ...configPath(params, true) };
    case "DeleteTaskPushNotificationConfig":
      return { method: "DELETE", ...configPath(params, true) };
    default:
      return name satisfies never;
  }
}

function taskPath({ id, ...params }: JsonObject, verb: string): { readonly path: string; readonly params: JsonObject } {
  return { path: `/tasks/${segment(id)}${verb}`, params };
}

function configPath({ taskId, ...params }: JsonObject, named: boolean): { readonly path: string; readonly params: JsonObject } {
  const path = `/tasks/${segment(taskId)}/pushNotificationConfigs`;
  if (!named) return { path, params };
  const { id, ...rest } = params;
  return { path: `${path}/${segment(id)}`, params: rest };
}

function segment(value: unknown): string {
  if (typeof value !== "string" || value === "") throw new AgentError("invalid_message", "an id is missing", { sent: "no" });
  return encodeSegment(value, "id");
}

function queryOf(params: JsonObject): string {
  const pairs: string[] = [];
  for (const [name, value] of Object.entries(params)) {
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
      pairs.push(`${name}=${encodeURIComponent(String(value))}`);
    }
  }
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}
