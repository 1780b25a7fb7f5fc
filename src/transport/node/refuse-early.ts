import type { IncomingMessage, ServerResponse } from "node:http";
import type { Chunk, HttpResponse } from "../exchange.js";
import { flatHeaders, writeWhole } from "./write-response.js";

/** An unread body of up to this length is discarded and the connection kept. */
const DISCARDED_BYTES = 64 * 1024;

/** How long a refused upload is read and discarded, so that the peer sees the refusal and not a reset. */
export const LINGER_MS = 500;

/**
 * Responds before the body was read. The connection is closed only after the peer had time to read the response: closing with unread
 * input makes the kernel send a reset, which discards the response. `closing`: the connection is not kept in any case.
 */
export function refuseEarly(req: IncomingMessage, res: ServerResponse, response: HttpResponse, closing: boolean): void {
  if (req.complete || req.readableEnded || (!closing && Number(req.headers["content-length"]) <= DISCARDED_BYTES)) {
    // Node discards the rest of the body after the response.
    writeWhole(res, response, closing);
    return;
  }
  const body = response.body as Chunk | undefined; // a refusal is never a stream
  const fields = flatHeaders(response.headers, true);
  fields.push("content-length", String(body === undefined ? 0 : Buffer.byteLength(body)));
  res.writeHead(response.status, fields);
  if (body === undefined) res.flushHeaders();
  else res.write(body);
  const timer = setTimeout(end, LINGER_MS);
  function end(): void {
    clearTimeout(timer);
    if (!res.destroyed) res.end();
  }
  req.once("end", end);
  req.once("close", end);
  req.resume();
}
