import { hash } from "node:crypto";
import { isObject, type Maybe } from "../envelope/index.js";

/** Audited events: decisions about callers, and changes of keys or of the log itself. */
export const AUDIT_EVENTS = [
  "authenticated",
  "refused",
  "probed",
  "relay.opened",
  "relay.ended",
  "key.loaded",
  "key.reloaded",
  "key.rotated",
  "key.unavailable",
  "downgrade",
  "log.opened",
  "log.dropped",
] as const;
/** The name of an audit event. */
export type AuditEvent = (typeof AUDIT_EVENTS)[number];

/** One line of the audit log. Never contains tokens, keys, query values or bodies. */
export interface AuditEntry {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly event: AuditEvent;
  /** The principal's id; `unknown` for an unidentified caller. */
  readonly who: string;
  readonly scheme?: Maybe<string>;
  /** Method and path, or another subject. */
  readonly what: string;
  readonly code?: Maybe<string>;
  /** The class of the error: `E_HTTP`. */
  readonly face?: Maybe<string>;
  readonly reason?: Maybe<string>;
  readonly traceId?: Maybe<string>;
  /** The remote socket address. */
  readonly remote?: Maybe<string>;
  readonly agent?: Maybe<string>;
  /** The number of decisions that this line summarises, if more than one. */
  readonly calls?: Maybe<number>;
}

/** The `prev` value of the first line. */
export const CHAIN_START = "0".repeat(64);

/** Maximum length per member: caller input must not fill the log. */
const MAX_CHARS = {
  who: 512,
  scheme: 32,
  what: 512,
  code: 64,
  face: 16,
  reason: 1_024,
  traceId: 64,
  remote: 64,
  agent: 128,
} as const;

/** Characters that JSON leaves unescaped but terminals or line readers interpret: DEL, C1, line separators, bidi controls. */
const CONTROL_CHARACTERS = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Formats an entry as one line without line end. It contains the digest of the previous line, so that a missing line is detected. */
export function formatEntry(entry: AuditEntry, previous: string): string {
  const { at, event, calls } = entry;
  const members: Record<string, string | number> = { prev: previous, at, event };
  for (const [name, most] of Object.entries(MAX_CHARS)) {
    const value = entry[name as keyof typeof MAX_CHARS]; // the table has only these names
    if (value !== undefined) members[name] = value.slice(0, most);
  }
  if (calls !== undefined) members["calls"] = calls;
  return JSON.stringify(members).replace(
    CONTROL_CHARACTERS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** The digest by which the next line refers to this one. */
export function digestOfLine(line: Uint8Array | string): string {
  return hash("sha256", line, "hex");
}

/** Parses a line; undefined if it is torn or not an audit entry. */
export function parseEntry(line: string): Maybe<AuditEntry & { readonly prev: string }> {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const { prev, at, event, who, what } = value;
  const whole = [prev, at, event, who, what].every((each) => typeof each === "string");
  return whole ? (value as unknown as AuditEntry & { readonly prev: string }) : undefined; // the required members were checked
}
