import type { ServerResponse } from "node:http";
import type { Chunk, HttpResponse } from "../exchange.js";

/** RFC 9110 §6.4.1: these never have content, so they say no length. */
export function hasNoContent(status: number): boolean {
  return status === 204 || status === 304;
}

/** A whole answer: head and body leave in one write. Throws, before anything is written, for headers that are not HTTP. */
export function writeWhole(res: ServerResponse, response: HttpResponse, closing: boolean): void {
  const body = response.body as Chunk | undefined; // streams go through StreamWriter
  const fields = flatHeaders(response.headers, closing);
  if (response.trailers !== undefined) {
    // Trailers need chunks: with a length the message ends before them.
    res.writeHead(response.status, fields);
    if (body !== undefined) res.write(body);
    res.addTrailers(response.trailers());
    res.end();
    return;
  }
  if (!hasNoContent(response.status) && response.headers["content-length"] === undefined) {
    const length = body === undefined ? 0 : typeof body === "string" ? Buffer.byteLength(body) : body.length;
    fields.push("content-length", String(length));
  }
  res.writeHead(response.status, fields);
  res.end(body);
}

/** Name, value, name, value: the form Node writes without copying it into an object of its own. */
export function flatHeaders(headers: HttpResponse["headers"], closing: boolean): string[] {
  const fields: string[] = [];
  for (const name in headers) {
    const value = headers[name];
    if (value !== undefined && !(closing && name === "connection")) fields.push(name, value);
  }
  if (closing) fields.push("connection", "close");
  return fields;
}
