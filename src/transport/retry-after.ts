import type { Maybe } from "../envelope/index.js";
import type { HttpHeaders } from "./exchange.js";

/** The retry delay of a response in milliseconds: RFC 9110 §10.2.3, seconds or a date relative to the server's own clock. */
export function readRetryAfter(headers: HttpHeaders): Maybe<number> {
  const header = headers["retry-after"]?.trim();
  if (header === undefined || header === "") return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const wait = Date.parse(header) - Date.parse(headers["date"] ?? "");
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}
