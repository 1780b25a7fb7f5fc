import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { AgentError, type ErrorCode } from "../../envelope/index.js";
import { errorResponse } from "../response.js";
import { hasUnansweredRequests } from "./live-exchanges.js";
import { writeRawResponse } from "./raw-response.js";

const BAD_HTTP: { readonly [code: string]: readonly [status: number, code: ErrorCode, message: string] } = {
  HPE_HEADER_OVERFLOW: [431, "too_large", "the request headers are too large"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "too_large", "the request chunk extensions are too large"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "deadline", "the request did not arrive in time"],
};

/** Responds to bytes that are not HTTP. While an earlier request is unanswered, the connection is only closed. */
export function respondToBadHttp(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (socket.writableEnded) return;
  // Our servers serve sockets only.
  if (!socket.writable || error.code === "ECONNRESET" || hasUnansweredRequests(socket as Socket)) {
    socket.destroy();
    return;
  }
  const [status, code, message] = BAD_HTTP[error.code ?? ""] ?? [400, "invalid_message", "this is not an HTTP/1.1 request"];
  refuse(socket, status, new AgentError(code, message));
}

/** Responds to plain HTTP on a TLS port. HTTP/2 clients fail on this response as well. */
export function respondToPlainText(socket: Duplex): void {
  refuse(socket, 400, new AgentError("invalid_message", "this port requires TLS: use https:// instead of http://"));
}

function refuse(socket: Duplex, status: number, error: AgentError): void {
  const response = errorResponse(status, error);
  writeRawResponse(socket, response, String(response.body));
}
