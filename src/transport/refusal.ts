import { AgentError, type Maybe } from "../envelope/index.js";
import type { HttpHeaders, HttpResponse } from "./exchange.js";
import { errorResponse } from "./response.js";

export const SHUTDOWN = "the server is shutting down";

/** Responses that the server gives itself, before or instead of the exchange. */
const CLOSE = { connection: "close" } as const;

export function refuseTooLarge(problem: AgentError): HttpResponse {
  return errorResponse(413, problem, CLOSE);
}

/** `limit`: its name, and how large content is sent instead. */
export function bodyTooLarge(maxBytes: number, limit?: Maybe<string>): AgentError {
  const named = limit === undefined ? "" : ` (limit ${limit})`;
  return new AgentError("too_large", `the request body is longer than ${maxBytes} bytes${named}`);
}

export function refuseEncoding(encoding: string): HttpResponse {
  const message = `content-encoding ${encoding.slice(0, 64)} is not supported: send the body unencoded`;
  return errorResponse(415, new AgentError("unsupported_content", message), { ...CLOSE, "accept-encoding": "identity" });
}

export function refuseClosing(): HttpResponse {
  return errorResponse(503, shuttingDown());
}

/** The server starts no new calls; another one, or this one after its restart, may. */
export function shuttingDown(): AgentError {
  return new AgentError("unavailable", SHUTDOWN, { retryAfterMs: 1_000 });
}

export function refuseOverloaded(): HttpResponse {
  return errorResponse(503, new AgentError("overloaded", "too many streams are open; try again later"), { "retry-after": "1" });
}

export function refusePipelined(): HttpResponse {
  return errorResponse(503, new AgentError("overloaded", "too many requests wait on one connection"), { "retry-after": "1" });
}

/** The exchange threw: a bug, whose details stay in the log. */
export function refuseFailed(): HttpResponse {
  return errorResponse(500, new AgentError("internal", "the server failed to answer"));
}

export function refuseConsumed(): HttpResponse {
  return errorResponse(500, bodyConsumed());
}

export function refuseOutside(basePath: string): HttpResponse {
  return errorResponse(404, new AgentError("not_found", `no route outside ${basePath}`));
}

/** Another parser consumed the body, but digests cover its exact bytes. */
export function bodyConsumed(): AgentError {
  return new AgentError(
    "internal",
    "the request body was already read by another parser; mount this handler before it (Express: before express.json(); " +
      "Fastify: in a plugin of its own with removeAllContentTypeParsers() and addContentTypeParser('*', (request, payload, done) => done(null)))",
  );
}

/** Content encodings are not decoded: a small body could expand to a very large one. */
export function foreignEncoding(headers: HttpHeaders): string | undefined {
  const encoding = headers["content-encoding"];
  return encoding === undefined || encoding === "" || encoding.toLowerCase() === "identity" ? undefined : encoding;
}

/** The path below a mount point, or undefined if it is outside. */
export function belowBase(path: string, basePath: string): string | undefined {
  if (basePath === "" || basePath === "/") return path;
  if (!path.startsWith(basePath)) return undefined;
  const below = path.slice(basePath.length);
  if (below === "") return "/";
  if (basePath.endsWith("/")) return `/${below}`;
  return below.charCodeAt(0) === 0x2f ? below : undefined;
}
