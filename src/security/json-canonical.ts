import { AgentError } from "../envelope/index.js";

/**
 * Canonical JSON (RFC 8785), the signed form: members ordered by UTF-16 code units, numbers in ECMAScript format, no white space.
 * Values without a canonical form are refused.
 */
export function canonicalJson(value: unknown): string {
  if (value === null || typeof value === "boolean") return String(value);
  if (typeof value === "string") return canonicalString(value);
  if (typeof value === "number") return canonicalNumber(value);
  if (Array.isArray(value)) return `[${Array.from(value, canonicalJson).join(",")}]`;
  if (typeof value === "object") return canonicalObject(value);
  throw notJson(`a value of type ${typeof value}`);
}

function canonicalObject(object: object): string {
  // `Object.entries` lists own members only; the default sort compares code units, as the RFC requires.
  const members = Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, value]) => `${canonicalString(name)}:${canonicalJson(value)}`).join(",")}}`;
}

/** With the `u` flag a complete pair is one character of another class, so this matches lone surrogates only. */
const LONE_SURROGATE = /\p{Surrogate}/u;

function canonicalString(text: string): string {
  if (LONE_SURROGATE.test(text)) throw notJson("half of a surrogate pair");
  return JSON.stringify(text);
}

function canonicalNumber(number: number): string {
  if (!Number.isFinite(number)) throw notJson(String(number));
  return JSON.stringify(number);
}

function notJson(description: string): AgentError {
  return new AgentError("encode", `${description} has no canonical JSON form`);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const COLON = 0x3a;
const SPACE = 0x20;

/**
 * Whether any object in this JSON text has a duplicate member. `JSON.parse` silently keeps the last one, other readers the first, so a
 * signature over such a text is meaningless. The text must be valid JSON; the caller parses it.
 */
export function hasDuplicateMembers(bytes: Uint8Array): boolean {
  const text = new TextDecoder().decode(bytes);
  /** Member names of the currently open objects; undefined for an array. */
  const open: (Set<string> | undefined)[] = [];
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === OPEN) open.push(new Set());
    else if (unit === OPEN_LIST) open.push(undefined);
    else if (unit === CLOSE || unit === CLOSE_LIST) open.pop();
    else if (unit === QUOTE) {
      const end = endOfString(text, index);
      const names = open.at(-1);
      if (names !== undefined && isName(text, end)) {
        // Escaped and plain spellings are the same name.
        const name = JSON.parse(text.slice(index, end)) as string; // a JSON string literal
        if (names.has(name)) return true;
        names.add(name);
      }
      index = end - 1;
    }
  }
  return false;
}

/** The index after the closing quote. */
function endOfString(text: string, open: number): number {
  for (let index = open + 1; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === BACKSLASH) index++;
    else if (unit === QUOTE) return index + 1;
  }
  return text.length;
}

/** A string followed by a colon is a member name. All JSON white space is at or below U+0020. */
function isName(text: string, from: number): boolean {
  let index = from;
  while (index < text.length && text.charCodeAt(index) <= SPACE) index++;
  return text.charCodeAt(index) === COLON;
}
