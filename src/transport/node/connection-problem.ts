import { AgentError } from "../../envelope/index.js";
import { tlsProblem } from "./tls-problem.js";

/** How far a request got before it failed. */
export type Progress = "waiting" | "written" | "answered";

export interface ErrorContext {
  /** Host and port, for messages. */
  readonly host: string;
  readonly progress: Progress;
  readonly secure: boolean;
}

/** In TLS 1.3 the server checks the client certificate after the client may write, and its alert is often lost with the connection. */
const CERTIFICATE_HINT = "; it may require a client certificate that it trusts";

interface SystemError extends Error {
  readonly code?: string;
}

/**
 * Classifies a connection error and whether the peer may have acted. Nothing was sent while the request waited for a connection; after
 * the first byte it is unknown.
 */
export function connectionProblem(cause: Error, { host, progress, secure }: ErrorContext): AgentError {
  if (cause instanceof AgentError) return cause;
  const code = (cause as SystemError).code ?? cause.name; // Node and undici name their errors
  // A peer that aborts the handshake has not read anything written after it.
  const tlsError = tlsProblem(cause, code, host);
  if (tlsError !== undefined) return tlsError;
  if (progress === "waiting") return notConnected(cause, code, host, secure);
  if (code === "UND_ERR_HEADERS_OVERFLOW") {
    return problem("too_large", `${host} sent response headers that are too large`, cause);
  }
  // Parser errors; an end in the middle is a cut, not another protocol.
  if (cause.name === "HTTPParserError" && code !== "HPE_INVALID_EOF_STATE") {
    return problem("bad_peer", `${host} did not answer in HTTP/1.1 (${code})`, cause);
  }
  if (progress === "answered") return problem("interrupted", `${host} ended its response early (${code})`, cause);
  const message = `${host} closed the connection before it responded (${code})${secure ? CERTIFICATE_HINT : ""}`;
  return problem("unavailable", message, cause);
}

/** The request was written and no response started in time. */
export function headersTimedOut(host: string, headersTimeoutMs: number, cause?: Error): AgentError {
  return problem("deadline", `${host} did not respond within ${headersTimeoutMs} ms`, cause);
}

export function bodyTimedOut(host: string, bodyIdleMs: number, cause?: Error): AgentError {
  return problem("interrupted", `${host} sent no data for ${bodyIdleMs} ms in the middle of its response`, cause);
}

/** A connection error that no library has classified. */
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
    return new AgentError("encode", `this request is not valid HTTP: ${cause.message}`, facts);
  }
  if (code.startsWith("ERR_HTTP2_")) return new AgentError("bad_peer", `${host} does not support HTTP/2 (${code})`, facts);
  const hint = secure && code === "ECONNRESET" ? CERTIFICATE_HINT : "";
  return new AgentError("unavailable", `${reasonOf(code, host)} (${code})${hint}`, facts);
}

function reasonOf(code: string, host: string): string {
  switch (code) {
    case "ECONNREFUSED":
      return `connection refused by ${host}`;
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `cannot resolve the host name of ${host}`;
    case "UND_ERR_CONNECT_TIMEOUT":
    case "ETIMEDOUT":
      return `connecting to ${host} timed out`;
    case "EHOSTUNREACH":
    case "ENETUNREACH":
      return `no network route to ${host}`;
    case "UND_ERR_CLOSED":
    case "UND_ERR_DESTROYED":
      return `the connections to ${host} were closed`;
    case "ECONNRESET":
      return `${host} closed the connection before the request was sent`;
  }
  return `cannot connect to ${host}`;
}
