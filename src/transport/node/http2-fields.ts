import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2";
import type { HttpHeaders } from "../exchange.js";

/** RFC 9113 §8.2.2: these speak about an HTTP/1.1 connection; in HTTP/2 they make a message malformed. */
const OF_THE_CONNECTION = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

/** RFC 9110 §5.1 and §5.5; Node checks both for HTTP/1.1 but not for HTTP/2, where the peer would see a protocol error. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const NOT_A_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** Adds fields to those of a message to be written. Throws for names and values that are not HTTP. */
export function addFields(to: OutgoingHttpHeaders, fields: HttpHeaders): OutgoingHttpHeaders {
  for (const name in fields) {
    const value = fields[name];
    if (value === undefined || OF_THE_CONNECTION.has(name)) continue;
    if (!NAME.test(name) || NOT_A_VALUE.test(value)) throw new TypeError(`the header ${JSON.stringify(name)} is not HTTP`);
    to[name] = value;
  }
  return to;
}

/** The ordinary fields of a message that was read. No prototype, so that no name means anything else. */
export function ordinaryFields(fields: IncomingHttpHeaders): Record<string, string> {
  const ordinary: Record<string, string> = Object.create(null);
  for (const name in fields) {
    if (name.charCodeAt(0) === 0x3a) continue; // a colon: a pseudo header
    const value = fields[name];
    if (value !== undefined) ordinary[name] = typeof value === "string" ? value : value.join(", ");
  }
  return ordinary;
}
