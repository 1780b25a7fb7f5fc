import { isObject, type Json, type JsonObject } from "../../envelope/index.js";
import type { HttpHeaders } from "../../transport/exchange.js";

/** What capture never keeps, and how it is removed. */

/** Replaces a secret. */
export const HIDDEN = "…";
/** Depth of JSON in strings in JSON that is searched; anything deeper is not kept. */
const MAX_NESTED_STRINGS = 4;
/** Fast pre-check: most bodies contain none of these words. */
const HINT = /token|secret|passw|passphrase|authorization|credential|api[-_ ]?key|private[-_ ]?key|cookie|\\u00/i;
const SECRET_NAME = /(token|secret|password|passwd|passphrase|authorization|credentials?|apikey|privatekey|cookie)$/;
/** Page tokens are not secrets. */
const PAGE_NAME = /page_?token$/i;

/** Header fields that describe the message and not its sender. All others are dropped. */
const KEPT_HEADERS = new Set([
  "accept",
  "allow",
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-length",
  "content-type",
  "date",
  "etag",
  "grpc-encoding",
  "grpc-message",
  "grpc-status",
  "grpc-timeout",
  "if-none-match",
  "last-event-id",
  "prefer",
  "retry-after",
  "te",
  "traceparent",
  "transfer-encoding",
  "user-agent",
  "vary",
]);
/** Protocol version and extension headers. */
const KEPT_SUFFIXES = /-(version|extensions)$/;
/** Query values that cannot be keys. Any other value is hidden. */
const PLAIN_VALUE = /^(\d{1,6}|true|false)$/;

export function keptHeaders(headers: HttpHeaders): { readonly [name: string]: string } {
  const kept: [string, string][] = [];
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (value !== undefined && (KEPT_HEADERS.has(lower) || KEPT_SUFFIXES.test(lower))) kept.push([lower, value]);
  }
  return Object.fromEntries(kept);
}

/** `GET /tasks/1?historyLength=3&key=…`: parameter names, and only values that cannot be keys. */
export function requestHead(method: string, path: string, query: string): string {
  if (query === "") return `${method} ${path}`;
  const pairs = query.split("&").map((pair) => {
    const equals = pair.indexOf("=");
    return equals < 0 || PLAIN_VALUE.test(pair.slice(equals + 1)) ? pair : `${pair.slice(0, equals)}=${HIDDEN}`;
  });
  return `${method} ${path}?${pairs.join("&")}`;
}

export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name.toLowerCase().replace(/[-_ ]/g, "")) && !PAGE_NAME.test(name);
}

/** Whether any member looks like a secret. Byte arrays are not searched. */
export function holdsSecrets(value: unknown): boolean {
  if (typeof value === "string") return HINT.test(value) && hideInText(value) !== value;
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return false;
  if (Array.isArray(value)) return value.some(holdsSecrets);
  return Object.entries(value).some(([name, member]) => isHideable(name, member) || holdsSecrets(member));
}

/** The document with secrets hidden; the same object if there are none. */
export function hideSecrets(document: JsonObject): JsonObject {
  return holdsSecrets(document) ? hiddenObject(document) : document;
}

function hiddenObject(object: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(object).map(([name, member]) => [name, isHideable(name, member) ? HIDDEN : hiddenIn(member)]),
  );
}

function hiddenIn(value: Json | undefined): Json | undefined {
  if (Array.isArray(value)) return value.map((item: Json) => hiddenIn(item) ?? null);
  if (isObject(value)) return hiddenObject(value);
  return typeof value === "string" ? hideInText(value) : value;
}

function isHideable(name: string, value: unknown): boolean {
  return value !== null && value !== undefined && value !== HIDDEN && isSecretName(name);
}

/**
 * Hides secret members in JSON text, complete or truncated. Everything else keeps its original spelling, so that the capture
 * shows what was on the wire.
 */
export function hideInText(text: string, depth = 0): string {
  if (!HINT.test(text)) return text;
  let shown = "";
  let kept = 0;
  for (let at = text.indexOf('"'); at !== -1; ) {
    const end = endOfString(text, at);
    const colon = skipSpace(text, end);
    let from = at;
    let instead: string | undefined;
    let next = end;
    if (text[colon] !== ":") instead = hiddenString(text.slice(at, end), depth);
    else if (isSecretName(unquoted(text.slice(at, end)))) {
      from = skipSpace(text, colon + 1);
      next = endOfValue(text, from);
      instead = text.slice(from, next) === "null" || from === next ? undefined : JSON.stringify(HIDDEN);
    }
    if (instead !== undefined) {
      shown += text.slice(kept, from) + instead;
      kept = next;
    }
    at = text.indexOf('"', next);
  }
  return shown + text.slice(kept);
}

/** For a string that contains JSON; undefined if nothing in it is secret. */
function hiddenString(quoted: string, depth: number): string | undefined {
  if (!quoted.includes('\\"') || !HINT.test(quoted)) return undefined;
  if (depth >= MAX_NESTED_STRINGS) return JSON.stringify(HIDDEN);
  const inner = unquoted(quoted);
  // Truncated JSON in a string cannot be searched, so it is not kept.
  if (inner === "") return JSON.stringify(HIDDEN);
  const cleaned = hideInText(inner, depth + 1);
  return cleaned === inner ? undefined : JSON.stringify(cleaned);
}

function unquoted(quoted: string): string {
  if (!quoted.includes("\\")) return quoted.slice(1, -1);
  try {
    return String(JSON.parse(quoted));
  } catch {
    return "";
  }
}

/** Index after the closing quote, or the end of a truncated text. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x5c) at++;
    else if (code === 0x22) return at + 1;
  }
  return text.length;
}

function endOfValue(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return endOfString(text, start);
  if (first === "{" || first === "[") return endOfNested(text, start);
  let at = start;
  while (at < text.length && !/[,}\]\s]/.test(text[at] ?? "")) at++;
  return at;
}

function endOfNested(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at) - 1;
    else if (character === "{" || character === "[") depth++;
    else if ((character === "}" || character === "]") && --depth === 0) return at + 1;
  }
  return text.length;
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && /\s/.test(text[at] ?? "")) at++;
  return at;
}
