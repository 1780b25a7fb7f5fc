import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { AgentError, type ErrorCode } from "../../envelope/index.js";
import { errorResponse } from "../response.js";
import { hasUnansweredRequests } from "./live-exchanges.js";
import { LINGER_MS } from "./refuse-early.js";

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
  writeRaw(socket, status, new AgentError(code, message));
}

/** Responds to plain HTTP on a TLS port. HTTP/2 clients fail on this response as well. */
export function respondToPlainText(socket: Duplex): void {
  writeRaw(socket, 400, new AgentError("invalid_message", "this port requires TLS: use https:// instead of http://"));
}

function writeRaw(socket: Duplex, status: number, error: AgentError): void {
  const body = String(errorResponse(status, error).body);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/json\r\n`;
  socket.end(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  socket.on("error", () => undefined);
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
