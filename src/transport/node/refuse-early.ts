import type { IncomingMessage, ServerResponse } from "node:http";
import type { HttpResponse } from "../exchange.js";
import { flatHeaders, writeWhole } from "./write-response.js";

/** How long a refused upload is read and thrown away, so that the peer sees the refusal and not a reset. */
export const LINGER_MS = 500;

/**
 * Answers before the body was read. The answer is written whole, but the connection is closed only after the peer had
 * the chance to read it: closing with unread input makes the kernel send a reset, which destroys the answer.
 */
export function refuseEarly(req: IncomingMessage, res: ServerResponse, response: HttpResponse): void {
  if (req.complete || req.readableEnded) {
    writeWhole(res, response, true);
    return;
  }
  const body = response.body as string; // refusals are whole and text
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
