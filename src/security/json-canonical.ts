import { AgentError } from "../envelope/index.js";

/**
 * JSON in the one spelling of RFC 8785, over which signatures are made: members in the order of their UTF-16 code units,
 * numbers as ECMAScript writes them, no white space. What has no such spelling is refused.
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
  // `Object.entries` sees own members only; the default sort compares code units, as the RFC demands.
  const members = Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, value]) => `${canonicalString(name)}:${canonicalJson(value)}`).join(",")}}`;
}

/** With the `u` flag a whole pair is one character of another class, so this finds lone halves only. */
const HALF_PAIR = /\p{Surrogate}/u;

function canonicalString(text: string): string {
  if (HALF_PAIR.test(text)) throw notJson("half of a surrogate pair");
  return JSON.stringify(text);
}

function canonicalNumber(number: number): string {
  if (!Number.isFinite(number)) throw notJson(String(number));
  return JSON.stringify(number);
}

function notJson(what: string): AgentError {
  return new AgentError("encode", `${what} has no canonical JSON form`);
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
 * Does an object in this JSON text have a member twice? `JSON.parse` keeps the last one without a word, other readers keep
 * the first, so a signature over such a text means nothing. The text has to be JSON; that is checked by whoever parses it.
 */
export function hasDuplicateMembers(bytes: Uint8Array): boolean {
  const text = new TextDecoder().decode(bytes);
  /** The member names of the objects that are open here; undefined stands for an array. */
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
        // Two spellings of one name are one name.
        const name = JSON.parse(text.slice(index, end)) as string; // a JSON string literal
        if (names.has(name)) return true;
        names.add(name);
      }
      index = end - 1;
    }
  }
  return false;
}

/** The index behind the closing quote. */
function endOfString(text: string, open: number): number {
  for (let index = open + 1; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === BACKSLASH) index++;
    else if (unit === QUOTE) return index + 1;
  }
  return text.length;
}

/** A string is a member's name if the next thing is a colon. All white space of JSON lies at or below the space. */
function isName(text: string, from: number): boolean {
  let index = from;
  while (index < text.length && text.charCodeAt(index) <= SPACE) index++;
  return text.charCodeAt(index) === COLON;
}
