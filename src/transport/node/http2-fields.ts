import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2";
import type { HttpHeaders } from "../exchange.js";
import { FieldMap } from "../field-map.js";

/** RFC 9113 §8.2.2: connection-specific fields of HTTP/1.1 make an HTTP/2 message malformed. */
const CONNECTION_FIELDS = new Set([
  "connection",
  "http2-settings",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

/** RFC 9110 §5.1 and §5.5; Node checks both for HTTP/1.1 but not for HTTP/2, where the peer reports a protocol error. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const INVALID_VALUE = /[^\t\x20-\x7e\x80-\xff]/;

/** Adds fields to an outgoing message. Throws if a name or value is not valid HTTP. */
export function addFields(to: OutgoingHttpHeaders, fields: HttpHeaders): OutgoingHttpHeaders {
  for (const name in fields) {
    const value = fields[name];
    if (value === undefined || CONNECTION_FIELDS.has(name)) continue;
    if (!NAME.test(name) || INVALID_VALUE.test(value))
      throw new TypeError(`the header ${JSON.stringify(name)} is not valid HTTP`);
    to[name] = value;
  }
  return to;
}

/** The fields of a received message without pseudo headers. */
export function ordinaryFields(fields: IncomingHttpHeaders): Record<string, string> {
  const ordinary = new FieldMap();
  for (const name in fields) {
    if (name.charCodeAt(0) === 0x3a) continue; // a colon: a pseudo header
    const value = fields[name];
    if (value !== undefined) ordinary[name] = typeof value === "string" ? value : value.join(", ");
  }
  return ordinary;
}
