import type { ServerResponse } from "node:http";
import type { Chunk, HttpResponse } from "../exchange.js";

/** RFC 9110 §6.4.1: these never have content, so no length is written. */
export function hasNoContent(status: number): boolean {
  return status === 204 || status === 304;
}

/** Writes head and body in one write. Throws before writing if the headers are not valid HTTP. */
export function writeWhole(res: ServerResponse, response: HttpResponse, closing: boolean): void {
  const body = response.body as Chunk | undefined; // streams go through StreamWriter
  const fields = flatHeaders(response.headers, closing);
  if (response.trailers !== undefined) {
    // Trailers require chunked encoding: with a length the message ends before them.
    res.writeHead(response.status, fields);
    if (body !== undefined) res.write(body);
    res.addTrailers(response.trailers());
    res.end();
    return;
  }
  if (!hasNoContent(response.status) && response.headers["content-length"] === undefined) {
    if (typeof body === "string") {
      const length = Buffer.byteLength(body);
      fields.push("content-length", String(length));
      res.writeHead(response.status, fields);
      // The same bytes, in an encoding that is written several times as fast.
      endWith(res, body, length === body.length ? "latin1" : "utf8");
      return;
    }
    fields.push("content-length", String(body?.length ?? 0));
  }
  res.writeHead(response.status, fields);
  res.end(body);
}

/** `end` with a text writes twice, the second time nothing, which needs a list of buffers: one write is cheaper. */
function endWith(res: ServerResponse, text: string, encoding: "latin1" | "utf8"): void {
  const { socket } = res;
  if (socket === null || socket.writableLength > 0 || text === "") {
    res.end(text, encoding);
    return;
  }
  socket.cork();
  res.write(text, encoding);
  socket.uncork();
  res.end();
}

/** Flat name-value pairs, which Node writes without copying. */
export function flatHeaders(headers: HttpResponse["headers"], closing: boolean): string[] {
  const fields: string[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && !(closing && name === "connection")) fields.push(name, value);
  }
  if (closing) fields.push("connection", "close");
  return fields;
}
