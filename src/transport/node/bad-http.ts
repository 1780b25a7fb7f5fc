import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { AgentError, type ErrorCode } from "../../envelope/index.js";
import { errorResponse } from "../response.js";
import { isOwedAnAnswer } from "./live-exchanges.js";
import { LINGER_MS } from "./refuse-early.js";

const BAD_HTTP: { readonly [code: string]: readonly [status: number, code: ErrorCode, message: string] } = {
  HPE_HEADER_OVERFLOW: [431, "too_large", "the request's headers are too long"],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, "too_large", "the request's chunk extensions are too long"],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "deadline", "the request did not arrive in time"],
};

/** Bytes that are not a request. While an earlier request waits for its answer nothing can be said without lying to it. */
export function answerBadHttp(error: Error & { readonly code?: string }, socket: Duplex): void {
  if (socket.writableEnded) return;
  // A server of ours serves sockets only.
  if (!socket.writable || error.code === "ECONNRESET" || isOwedAnAnswer(socket as Socket)) {
    socket.destroy();
    return;
  }
  const [status, code, message] = BAD_HTTP[error.code ?? ""] ?? [400, "invalid_message", "this is not an HTTP/1.1 request"];
  writeRaw(socket, status, new AgentError(code, message));
}

/** HTTP in clear where TLS is spoken. HTTP/2 clients read this as nonsense, which ends them just as well. */
export function answerClearText(socket: Duplex): void {
  writeRaw(socket, 400, new AgentError("invalid_message", "this port speaks TLS: use https:// instead of http://"));
}

function writeRaw(socket: Duplex, status: number, error: AgentError): void {
  const body = String(errorResponse(status, error).body);
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nconnection: close\r\ncontent-type: application/json\r\n`;
  socket.end(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
  socket.on("error", () => undefined);
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
