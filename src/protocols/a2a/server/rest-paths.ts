import type { JsonObject } from "../../../envelope/index.js";
import { decodeSegment, readQuery } from "../../../transport/address-parts.js";
import type { HttpRequest } from "../../../transport/exchange.js";
import { DecodeProblem } from "../../../transport/fields.js";
import type { OperationName } from "../operations.js";

/** The operation of a REST path below the interface address. */
export interface RestOperation {
  readonly name: OperationName;
  /** From the path; they have precedence over body and query. */
  readonly ids: { readonly id?: string; readonly taskId?: string };
  /** Where the remaining parameters are. */
  readonly from: "body" | "optional-body" | "query";
}

export type RestMatch = RestOperation | { readonly allow: readonly string[] } | undefined;

const NO_IDS = Object.freeze({});
const SEND: RestOperation = Object.freeze({ name: "SendMessage", ids: NO_IDS, from: "body" });
const STREAM: RestOperation = Object.freeze({ name: "SendStreamingMessage", ids: NO_IDS, from: "body" });

/**
 * A2A 1.0 §5.3 and §11.3, as segments below the interface address. `:` in the last segment separates a verb. Ids are
 * percent-decoded after splitting, so they may contain either character.
 */
export function matchRest(method: string, segments: readonly string[]): RestMatch {
  const [first, second, third, fourth] = segments;
  if (segments.length === 1 && first === "message:send") return only("POST", method, SEND);
  if (segments.length === 1 && first === "message:stream") return only("POST", method, STREAM);
  if (segments.length === 1 && (first === "extendedAgentCard" || first === "card")) {
    return only("GET", method, { name: "GetExtendedAgentCard", ids: {}, from: "query" });
  }
  if (first !== "tasks") return undefined;
  if (segments.length === 1) return only("GET", method, { name: "ListTasks", ids: {}, from: "query" });
  if (segments.length === 2) return matchTask(method, second ?? "");
  if (third === "pushNotificationConfigs" && segments.length <= 4) return matchPush(method, decodeSegment(second), fourth);
  return undefined;
}

function matchTask(method: string, segment: string): RestMatch {
  const colon = segment.lastIndexOf(":");
  const verb = colon < 0 ? "" : segment.slice(colon + 1);
  const id = decodeSegment(colon < 0 ? segment : segment.slice(0, colon));
  if (verb === "cancel") return only("POST", method, { name: "CancelTask", ids: { id }, from: "optional-body" });
  if (verb === "subscribe") {
    // The proto defines GET, the prose POST, and peers of both kinds exist (C3).
    if (method !== "GET" && method !== "POST") return { allow: ["POST", "GET"] };
    return { name: "SubscribeToTask", ids: { id }, from: method === "GET" ? "query" : "optional-body" };
  }
  return only("GET", method, { name: "GetTask", ids: { id: decodeSegment(segment) }, from: "query" });
}

function matchPush(method: string, taskId: string, config: string | undefined): RestMatch {
  if (config === undefined) {
    if (method === "POST") return { name: "CreateTaskPushNotificationConfig", ids: { taskId }, from: "body" };
    return method === "GET"
      ? { name: "ListTaskPushNotificationConfigs", ids: { taskId }, from: "query" }
      : { allow: ["GET", "POST"] };
  }
  const ids = { taskId, id: decodeSegment(config) };
  if (method === "GET") return { name: "GetTaskPushNotificationConfig", ids, from: "query" };
  return method === "DELETE" ? { name: "DeleteTaskPushNotificationConfig", ids, from: "query" } : { allow: ["GET", "DELETE"] };
}

function only(allowed: string, method: string, operation: RestOperation): RestMatch {
  return method === allowed ? operation : { allow: [allowed] };
}

/** The request parameters as one object, as in the JSON-RPC binding. */
export function restParams(request: HttpRequest, { from, ids }: RestOperation): JsonObject {
  if (from === "query") return { ...queryParams(request.query), ...ids };
  if (from === "optional-body" && request.body.length === 0) return { ...ids };
  const body = request.json();
  // Some 0.3 clients send a literal null instead of an empty body.
  if (from === "optional-body" && body === null) return { ...ids };
  if (typeof body !== "object" || body === null || Array.isArray(body)) throw new DecodeProblem("body", "must be a JSON object");
  return ids === NO_IDS ? (body as JsonObject) : { ...body, ...ids }; // an object from JSON.parse
}

const BOOLEANS: ReadonlySet<string> = new Set(["includeArtifacts", "include_artifacts"]);

/** GET parameters: camelCase names, numbers as digits, booleans as words (§11.5). */
export function queryParams(query: string): JsonObject {
  const params = new Map<string, string | boolean>(readQuery(query));
  for (const name of BOOLEANS) {
    const value = params.get(name);
    if (typeof value === "string") params.set(name, readWord(name, value));
  }
  return Object.fromEntries(params);
}

function readWord(name: string, value: string): boolean {
  if (value === "true" || value === "false") return value === "true";
  throw new DecodeProblem(name, "must be true or false");
}
