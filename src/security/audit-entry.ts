import { hash } from "node:crypto";
import { isObject, type Maybe } from "../envelope/index.js";

/** What was decided about somebody, or happened to a key or to the log itself. */
export const AUDIT_EVENTS = [
  "authenticated",
  "refused",
  "key.loaded",
  "key.reloaded",
  "key.rotated",
  "key.unavailable",
  "downgrade",
  "log.opened",
  "log.dropped",
] as const;
export type AuditEvent = (typeof AUDIT_EVENTS)[number];

/** One line of the audit log. Never a token, a key, the value of a query parameter, or a body. */
export interface AuditEntry {
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly event: AuditEvent;
  /** The principal's id; `unknown` for a caller nobody could name. */
  readonly who: string;
  readonly scheme?: Maybe<string>;
  /** Method and path, or what else it was about. */
  readonly what: string;
  readonly code?: Maybe<string>;
  readonly reason?: Maybe<string>;
  readonly traceId?: Maybe<string>;
  /** The address of the other side's socket. */
  readonly remote?: Maybe<string>;
  readonly agent?: Maybe<string>;
  /** How many such decisions this line stands for, where it is not one. */
  readonly calls?: Maybe<number>;
}

/** What a chain begins with. */
export const CHAIN_START = "0".repeat(64);

/** The longest each member may be: what callers write must not fill the log. */
const MAX_CHARS = { who: 512, scheme: 32, what: 512, code: 64, reason: 1_024, traceId: 64, remote: 64, agent: 128 } as const;

/** What JSON leaves as it is, and a terminal or a line reader would obey: DEL, C1, line separators, and what turns text around. */
const OBEYED = /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** An entry as one line without its end. It names the line before by its digest, so that a missing line is seen. */
export function formatEntry(entry: AuditEntry, previous: string): string {
  const { at, event, calls } = entry;
  const members: Record<string, string | number> = { prev: previous, at, event };
  for (const [name, most] of Object.entries(MAX_CHARS)) {
    const value = entry[name as keyof typeof MAX_CHARS]; // the table has these names only
    if (value !== undefined) members[name] = value.slice(0, most);
  }
  if (calls !== undefined) members["calls"] = calls;
  return JSON.stringify(members).replace(OBEYED, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The digest by which the next line names this one. */
export function digestOfLine(line: Uint8Array | string): string {
  return hash("sha256", line, "hex");
}

/** A line that was read back: undefined for one that was torn, or is none of ours. */
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
  return whole ? (value as unknown as AuditEntry & { readonly prev: string }) : undefined; // the members that are always there are there
}
