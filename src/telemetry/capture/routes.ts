import { AgentError, type Json, type Maybe, signalOf } from "../../envelope/index.js";
import type { ExtraRoute } from "../../protocols/front.js";
import type { Exchange, HttpRequest, HttpResponse } from "../../transport/exchange.js";
import { errorResponse, jsonResponse } from "../../transport/response.js";
import type { CapturedMessage, CaptureFilter, CaptureLog } from "./captured-message.js";
import { feed } from "./feed.js";

/** Options of `inspectorRoutes`. */
export interface InspectorRouteOptions {
  /** Authorizes access, wherever the routes are served. Default: only the admin listener serves them, with its token. */
  readonly authorize?: Maybe<(request: HttpRequest) => boolean | Promise<boolean>>;
}

/** Base path of the inspector API. */
export const API_PATH = "/koine/api";
const LIST_DEFAULT = 100;
const MAX_LIST = 1_000;
const DIRECTIONS = ["in", "out"] as const;
const STATUSES = ["open", "ok", "failed", "stopped"] as const;
const NOT_CACHED = { "cache-control": "no-store" } as const;

/** The inspector API over HTTP, for the dashboard and `koine inspect`. */
export function inspectorRoutes(log: CaptureLog, { authorize }: InspectorRouteOptions = {}): readonly ExtraRoute[] {
  const route = (path: string, answer: (request: HttpRequest, parameters: URLSearchParams) => HttpResponse): ExtraRoute => ({
    route: { method: "GET", path: API_PATH + path },
    exchange: guarded(authorize ?? (() => true), answer),
    access: authorize === undefined ? "operator" : undefined,
  });
  return [
    route("/messages", (_request, parameters) => listMessages(log, parameters)),
    route("/messages/*", (request) => messageResponse(log.get(lastSegment(request)), request)),
    route("/traces/*", (request) => listTrace(log, request)),
    route("/feed", (request, parameters) =>
      feed(log, {
        filter: filterOf(parameters),
        after: cursorIn(request.headers["last-event-id"] ?? parameters.get("after") ?? undefined),
        whole: parameters.get("whole") === "1",
        signal: signalOf(request.cancel),
      }),
    ),
  ];
}

/** Unauthorized requests get 404, so that the API is not revealed. */
function guarded(
  authorize: NonNullable<InspectorRouteOptions["authorize"]>,
  answer: (request: HttpRequest, parameters: URLSearchParams) => HttpResponse,
): Exchange {
  return async (request) => {
    try {
      if (!(await authorize(request))) return notFound(request);
      return answer(request, new URLSearchParams(request.query));
    } catch (thrown) {
      const error = AgentError.from(thrown);
      const status = STATUS_OF[error.code];
      // Any other failure, also one of the authorization, must not grant access.
      return status === undefined ? notFound(request) : errorResponse(status, error);
    }
  };
}

const STATUS_OF: { readonly [code: string]: number } = { invalid_message: 400, overloaded: 503 };

function notFound({ method, path }: HttpRequest): HttpResponse {
  return errorResponse(404, new AgentError("not_found", `No route for ${method} ${path}`));
}

function listMessages(log: CaptureLog, parameters: URLSearchParams): HttpResponse {
  const before = parameters.get("before");
  const limit = Math.min(MAX_LIST, numberIn(parameters.get("limit") ?? String(LIST_DEFAULT), "limit"));
  const messages = log.list(filterOf(parameters), limit, before === null ? undefined : numberIn(before, "before"));
  return okResponse({ messages: asJson(messages), size: log.size, forgotten: log.forgotten });
}

function messageResponse(found: Maybe<CapturedMessage>, request: HttpRequest): HttpResponse {
  return found === undefined ? notFound(request) : okResponse(asJson(found));
}

function listTrace(log: CaptureLog, request: HttpRequest): HttpResponse {
  const messages = log.trace(lastSegment(request));
  return messages.length === 0 ? notFound(request) : okResponse(asJson(messages));
}

function okResponse(value: Json): HttpResponse {
  return jsonResponse(200, JSON.stringify(value), NOT_CACHED);
}

/** Captured messages contain only JSON. */
function asJson(value: object): Json {
  return value as unknown as Json;
}

function lastSegment({ path }: HttpRequest): string {
  const segment = path.slice(path.lastIndexOf("/") + 1);
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

function filterOf(parameters: URLSearchParams): CaptureFilter {
  const given = (name: string): Maybe<string> => parameters.get(name) ?? undefined;
  return {
    agent: given("agent"),
    traceId: given("trace")?.replaceAll("-", "").toLowerCase(),
    protocol: given("protocol"),
    direction: oneOf(given("direction"), DIRECTIONS, "direction"),
    status: oneOf(given("status"), STATUSES, "status"),
    text: given("text"),
  };
}

function oneOf<T extends string>(value: Maybe<string>, allowed: readonly T[], field: string): Maybe<T> {
  const found = allowed.find((each) => each === value);
  if (value === undefined || found !== undefined) return found;
  throw new AgentError("invalid_message", `${field} must be one of ${allowed.join(", ")}`, { field });
}

function numberIn(text: string, field: string): number {
  if (/^\d{1,16}$/.test(text)) return Number(text);
  throw new AgentError("invalid_message", `${field} must be a whole number`, { field });
}

/** An invalid cursor counts as none. */
function cursorIn(text: Maybe<string>): number {
  return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : 0;
}
