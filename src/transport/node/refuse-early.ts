import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpResponse } from "../exchange.js";
import { flatHeaders, writeWhole } from "./write-response.js";

/** How long a refused upload is read and discarded, so that the peer sees the refusal and not a reset. */
export const LINGER_MS = 500;

/**
 * Responds before the body was read. The connection is closed only after the peer had time to read the response: closing with unread
 * input makes the kernel send a reset, which discards the response.
 */
export function refuseEarly(req: IncomingMessage, res: ServerResponse, response: HttpResponse): void {
  if (req.complete || req.readableEnded) {
    writeWhole(res, response, true);
    return;
  }
  const body = response.body as string; // refusals are complete texts
  const fields = flatHeaders(response.headers, true);
  fields.push("content-length", String(Buffer.byteLength(body)));
  res.writeHead(response.status, fields);
  res.write(body);
  const timer = setTimeout(end, LINGER_MS);
  function end(): void {
    clearTimeout(timer);
    if (!res.destroyed) res.end();
  }
  req.once("end", end);
  req.once("close", end);
  req.resume();
}
