import { AgentError } from "../../envelope/index.js";

/** How far a request came before it failed. */
export type Progress = "waiting" | "written" | "answered";

export interface Where {
  /** Host and port, for people. */
  readonly host: string;
  readonly progress: Progress;
  readonly headersTimeoutMs: number;
  readonly bodyIdleMs: number;
}

interface SystemError extends Error {
  readonly code?: string;
}

/**
 * What went wrong on the wire, and whether the peer may have acted. Nothing was sent as long as the request waited for a
 * connection; from the first byte on nobody can know.
 */
export function connectionProblem(cause: Error, where: Where): AgentError {
  if (cause instanceof AgentError) return cause;
  const code = (cause as SystemError).code ?? cause.name; // Node and undici name their errors
  if (where.progress === "waiting") return notConnected(cause, code, where.host);
  const { host } = where;
  switch (code) {
    case "UND_ERR_HEADERS_TIMEOUT":
      return problem("deadline", `${host} did not answer within ${where.headersTimeoutMs} ms`, cause);
    case "UND_ERR_BODY_TIMEOUT":
      return problem("interrupted", `${host} fell silent for ${where.bodyIdleMs} ms in the middle of its answer`, cause);
    case "UND_ERR_HEADERS_OVERFLOW":
      return problem("too_large", `${host} answered with headers that are too long`, cause);
  }
  // The parser's own errors; an end in the middle is a cut, not another language.
  if (cause.name === "HTTPParserError" && code !== "HPE_INVALID_EOF_STATE") {
    return problem("bad_peer", `${host} did not answer in HTTP/1.1 (${code})`, cause);
  }
  return where.progress === "answered"
    ? problem("interrupted", `${host} cut its answer short (${code})`, cause)
    : problem("unavailable", `${host} closed the connection before it answered (${code})`, cause);
}

function problem(
  code: "deadline" | "interrupted" | "unavailable" | "too_large" | "bad_peer",
  message: string,
  cause: Error,
): AgentError {
  return new AgentError(code, message, { sent: "maybe", cause });
}

function notConnected(cause: Error, code: string, host: string): AgentError {
  const facts = { sent: "no", cause } as const;
  if (code === "UND_ERR_INVALID_ARG" || code === "UND_ERR_NOT_SUPPORTED") {
    return new AgentError("encode", `this request cannot be written as HTTP: ${cause.message}`, facts);
  }
  return new AgentError("unavailable", `${reasonOf(code, host)} (${code})`, facts);
}

function reasonOf(code: string, host: string): string {
  switch (code) {
    case "ECONNREFUSED":
      return `nobody listens at ${host}`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `the name of ${host} is not known`;
    case "UND_ERR_CONNECT_TIMEOUT":
    case "ETIMEDOUT":
      return `no connection to ${host} in time`;
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return `there is no way to ${host}`;
    case "UND_ERR_CLOSED":
    case "UND_ERR_DESTROYED":
      return `the connections to ${host} were closed`;
  }
  const tls = /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/.test(code);
  return tls ? `${host} is not who it should be, or does not speak TLS` : `cannot connect to ${host}`;
}
