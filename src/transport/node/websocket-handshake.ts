import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { AgentError } from "../../envelope/index.js";
import type { HttpResponse } from "../exchange.js";
import { errorResponse } from "../response.js";
import { offeredSubprotocols } from "../upgrade-request.js";
import { headersOf } from "./incoming-request.js";

/** RFC 6455 §4.1: sixteen bytes in base64. */
const KEY = /^[+/0-9A-Za-z]{22}==$/;
const VERSION = "13";

/**
 * Whether a request with `Upgrade` opens a WebSocket. All others, such as `Upgrade: h2c`, are ordinary requests: a server may ignore
 * the field (RFC 9110 §7.8), and must in HTTP/1.0.
 */
export function opensWebSocket({ method, headers, httpVersion }: IncomingMessage): boolean {
  return (
    method === "GET" &&
    httpVersion === "1.1" &&
    headers.upgrade?.trim().toLowerCase() === "websocket" &&
    headers["transfer-encoding"] === undefined &&
    (headers["content-length"] === undefined || headers["content-length"] === "0")
  );
}

/** The refusal of a handshake that is not one of RFC 6455, before anybody is asked. */
export function refuseHandshake(req: IncomingMessage): HttpResponse | undefined {
  const headers = headersOf(req);
  if (headers["sec-websocket-version"] !== VERSION) {
    const error = new AgentError("unsupported_version", `Sec-WebSocket-Version must be ${VERSION}`);
    return errorResponse(426, error, { upgrade: "websocket", "sec-websocket-version": VERSION });
  }
  if (!KEY.test(headers["sec-websocket-key"] ?? "")) return refuseField("Sec-WebSocket-Key must be 16 bytes in base64");
  if (offeredSubprotocols(headers) === undefined) return refuseField("Sec-WebSocket-Protocol must list distinct tokens");
  return undefined;
}

function refuseField(problem: string): HttpResponse {
  return errorResponse(400, new AgentError("invalid_message", problem));
}

/** True while a response is owed on this socket: its bytes would follow those of the new protocol. Node has no public way to ask. */
export function owesResponse(socket: Socket & { readonly _httpMessage?: unknown }): boolean {
  return socket._httpMessage !== undefined && socket._httpMessage !== null;
}

/** Connection options that belong to the upgrade. */
const UPGRADE_OPTIONS = new Set(["upgrade", "http2-settings"]);

/** The head of a request without its upgrade, as bytes to parse again. */
export function headWithoutUpgrade({ method, url, httpVersion, rawHeaders }: IncomingMessage): Buffer {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? "";
    const value = rawHeaders[index + 1] ?? "";
    const lower = name.toLowerCase();
    if (lower === "upgrade" || lower === "http2-settings") continue;
    head += `${name}: ${lower === "connection" ? withoutUpgrade(value) : value}\r\n`;
  }
  return Buffer.from(`${head}\r\n`, "latin1");
}

function withoutUpgrade(connection: string): string {
  const kept = connection.split(",").filter((option) => !UPGRADE_OPTIONS.has(option.trim().toLowerCase()));
  return kept.join(",").trim();
}
