import { AgentError, type Maybe } from "../envelope/index.js";
import type { HttpHeaders } from "./exchange.js";

/** RFC 9110 §7.6.1, and what the handshake itself writes (RFC 6455 §4.1). An upgrade request has no body. */
const NOT_SENT = new Set([
  "connection",
  "content-length",
  "keep-alive",
  "proxy-connection",
  "sec-websocket-accept",
  "sec-websocket-extensions",
  "sec-websocket-key",
  "sec-websocket-protocol",
  "sec-websocket-version",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** The address of a session with scheme `http` or `https`, as guards, signatures and servers see it. Throws `invalid_message`. */
export function httpForm(target: string): string {
  const scheme = /^(?:ws|http)(s?):\/\//i.exec(target);
  if (scheme === null) {
    const message = `${JSON.stringify(target.slice(0, 200))} is not a ws, wss, http or https URL`;
    throw new AgentError("invalid_message", message, { sent: "no" });
  }
  const hash = target.indexOf("#");
  return `http${(scheme[1] ?? "").toLowerCase()}://${target.slice(scheme[0].length, hash === -1 ? undefined : hash)}`;
}

/** The header fields of a request that an upgrade request carries as well: all but those of the hop and the handshake. */
export function upgradeFields(headers: HttpHeaders): Record<string, string> {
  const hop = new Set(tokensIn(headers["connection"]));
  const fields: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (value !== undefined && !NOT_SENT.has(lower) && !hop.has(lower)) fields[lower] = value;
  }
  return fields;
}

/** The subprotocols a client offers, by preference; undefined if the header is invalid (RFC 6455 §11.3.4). */
export function offeredSubprotocols(headers: HttpHeaders): Maybe<readonly string[]> {
  const header = headers["sec-websocket-protocol"];
  if (header === undefined) return [];
  const offered = header.split(",").map((each) => each.trim());
  return areSubprotocols(offered) ? offered : undefined;
}

/** Distinct tokens. */
export function areSubprotocols(names: readonly string[]): boolean {
  return names.every((name) => TOKEN.test(name)) && new Set(names).size === names.length;
}

/** The members of a list header, in lower case. */
export function tokensIn(header: Maybe<string>): readonly string[] {
  return (header ?? "").split(",").map((each) => each.trim().toLowerCase());
}
