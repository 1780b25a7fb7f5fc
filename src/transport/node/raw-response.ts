import { STATUS_CODES, validateHeaderName, validateHeaderValue } from "node:http";
import type { Duplex } from "node:stream";
import type { Maybe } from "../../envelope/index.js";
import type { Chunk, HttpResponse } from "../exchange.js";
import { LINGER_MS } from "./refuse-early.js";
import { flatHeaders } from "./write-response.js";

/**
 * Writes a response on a socket that Node's HTTP server does not serve, and closes it. As with any refusal, the socket is read for a
 * while longer: closing with unread input makes the kernel send a reset, which discards the response. Throws before writing if the
 * headers are not valid HTTP.
 */
export function writeRawResponse(
  socket: Duplex,
  { status, headers }: Pick<HttpResponse, "status" | "headers">,
  body: Maybe<Chunk>,
): void {
  const content = Buffer.from(body ?? "");
  // RFC 9110 §7.8: a sender of Upgrade also names it in Connection.
  const connection = headers["upgrade"] === undefined ? "close" : "close, upgrade";
  const { "content-length": _length, "transfer-encoding": _encoding, connection: _connection, ...rest } = headers;
  const fields = [...flatHeaders(rest, false), "connection", connection, "content-length", String(content.length)];
  let head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n`;
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [name = "", value = ""] = [fields[index], fields[index + 1]];
    validateHeaderName(name);
    validateHeaderValue(name, value);
    head += `${name}: ${value}\r\n`;
  }
  socket.end(Buffer.concat([Buffer.from(`${head}\r\n`, "latin1"), content]));
  socket.on("error", () => undefined);
  socket.resume();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
