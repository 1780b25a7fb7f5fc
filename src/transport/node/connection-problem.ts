import { AgentError } from "../../envelope/index.js";
import { tlsProblem } from "./tls-problem.js";

/** How far a request came before it failed. */
export type Progress = "waiting" | "written" | "answered";

export interface Where {
  /** Host and port, for people. */
  readonly host: string;
  readonly progress: Progress;
  readonly secure: boolean;
}

/** In TLS 1.3 a server judges our certificate after we may write, and what it says about it is often lost with the connection. */
const PERHAPS = "; if it wants a client certificate, it got none that it believes";

interface SystemError extends Error {
  readonly code?: string;
}

/**
 * What went wrong on the wire, and whether the peer may have acted. Nothing was sent as long as the request waited for a
 * connection; from the first byte on nobody can know.
 */
export function connectionProblem(cause: Error, { host, progress, secure }: Where): AgentError {
  if (cause instanceof AgentError) return cause;
  const code = (cause as SystemError).code ?? cause.name; // Node and undici name their errors
  // A peer that ends the handshake did not read what may have been written behind it.
  const untrusted = tlsProblem(cause, code, host);
  if (untrusted !== undefined) return untrusted;
  if (progress === "waiting") return notConnected(cause, code, host, secure);
  if (code === "UND_ERR_HEADERS_OVERFLOW") {
    return problem("too_large", `${host} answered with headers that are too long`, cause);
  }
  // The parser's own errors; an end in the middle is a cut, not another language.
  if (cause.name === "HTTPParserError" && code !== "HPE_INVALID_EOF_STATE") {
    return problem("bad_peer", `${host} did not answer in HTTP/1.1 (${code})`, cause);
  }
  if (progress === "answered") return problem("interrupted", `${host} cut its answer short (${code})`, cause);
  const message = `${host} closed the connection before it answered (${code})${secure ? PERHAPS : ""}`;
  return problem("unavailable", message, cause);
}

/** The request was written, and no answer began in time. */
export function noAnswer(host: string, headersTimeoutMs: number, cause?: Error): AgentError {
  return problem("deadline", `${host} did not answer within ${headersTimeoutMs} ms`, cause);
}

export function fellSilent(host: string, bodyIdleMs: number, cause?: Error): AgentError {
  return problem("interrupted", `${host} fell silent for ${bodyIdleMs} ms in the middle of its answer`, cause);
}

/** A connection that could not be made, for reasons that no library gave a name to. */
export function noConnection(code: "ETIMEDOUT" | "ECONNRESET"): Error {
  return Object.assign(new Error(code), { code });
}

function problem(
  code: "deadline" | "interrupted" | "unavailable" | "too_large" | "bad_peer",
  message: string,
  cause: Error | undefined,
): AgentError {
  return new AgentError(code, message, { sent: "maybe", cause });
}

function notConnected(cause: Error, code: string, host: string, secure: boolean): AgentError {
  const facts = { sent: "no", cause } as const;
  if (code === "UND_ERR_INVALID_ARG" || code === "UND_ERR_NOT_SUPPORTED") {
    return new AgentError("encode", `this request cannot be written as HTTP: ${cause.message}`, facts);
  }
  if (code.startsWith("ERR_HTTP2_")) return new AgentError("bad_peer", `${host} does not speak HTTP/2 (${code})`, facts);
  const perhaps = secure && code === "ECONNRESET" ? PERHAPS : "";
  return new AgentError("unavailable", `${reasonOf(code, host)} (${code})${perhaps}`, facts);
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
    case "ECONNRESET":
      return `${host} closed the connection before anything was asked`;
  }
  return `cannot connect to ${host}`;
}
