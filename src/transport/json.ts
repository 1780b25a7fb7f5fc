import { AgentError } from "../envelope/index.js";
import { DEFAULT_LIMITS, type Limits } from "./limits.js";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const encoder = new TextEncoder();
/** Of one UTF-16 unit in UTF-8. */
const MOST_BYTES = 3;
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });

/** What bounds the cost of parsing. Without `jsonBytes` the source of the text limits its size. */
export type JsonLimits = Pick<Limits, "jsonDepth" | "jsonValues"> & Partial<Pick<Limits, "jsonBytes">>;

/** For texts inside something whose size is limited. */
export const INNER_JSON_LIMITS: JsonLimits = { jsonDepth: DEFAULT_LIMITS.jsonDepth, jsonValues: DEFAULT_LIMITS.jsonValues };

export interface JsonScan {
  readonly depth: number;
  /** Commas, colons and opening brackets: at least one per value, two per member of an object, which costs more. */
  readonly values: number;
  /** A run of 16 or more digits: parsing may change such a number. */
  readonly longNumber: boolean;
}

/**
 * One pass over the bytes before parsing: `JSON.parse` accepts any depth and silently rounds numbers. A plain loop with inlined
 * string state, because it runs once per request. Stops once there are more than `mostValues`.
 */
export function scanJson(bytes: Uint8Array, mostValues = Number.POSITIVE_INFINITY): JsonScan {
  let depth = 0;
  let deepest = 0;
  let values = 0;
  let digits = 0;
  let longNumber = false;
  for (let index = 0; index < bytes.length && values <= mostValues; index++) {
    const byte = bytes[index] as number; // index < length
    if (byte === QUOTE) {
      digits = 0;
      index = skipString(bytes, index);
    } else if (byte >= 0x30 && byte <= 0x39) {
      if (++digits >= 16) longNumber = true;
    } else {
      digits = 0;
      // `[` 0x5b and `{` 0x7b differ in one bit, as do `]` and `}`.
      if (byte === COMMA || byte === COLON) values++;
      else if ((byte & 0xdf) === 0x5b) {
        values++;
        if (++depth > deepest) deepest = depth;
      } else if ((byte & 0xdf) === 0x5d) depth--;
    }
  }
  return { depth: deepest, values, longNumber };
}

/** Bytes of a string scanned in JavaScript before the native search is faster. */
const INLINE_SCAN = 24;

/** The index of the closing quote, or past the end if there is none. */
function skipString(bytes: Uint8Array, open: number): number {
  let index = open + 1;
  const scanned = index + INLINE_SCAN;
  for (; index < scanned; index++) {
    const byte = bytes[index];
    if (byte === QUOTE || byte === undefined) return index;
    if (byte === BACKSLASH) index++;
  }
  for (;;) {
    const quote = bytes.indexOf(QUOTE, index);
    if (quote === -1) return bytes.length;
    let before = quote;
    while (before > index && bytes[before - 1] === BACKSLASH) before--;
    // An even run of backslashes does not escape the quote.
    if ((quote - before) % 2 === 0) return quote;
    index = quote + 1;
  }
}

/** Parses JSON within the limits. Reports what is invalid and where; assigns no blame. */
export function readJson(bytes: Uint8Array, limits: JsonLimits, onLongNumber?: () => void): unknown {
  const { jsonBytes, jsonDepth, jsonValues } = limits;
  if (bytes.length === 0) throw new AgentError("decode", "the body is empty; expected a JSON value");
  if (jsonBytes !== undefined && bytes.length > jsonBytes)
    throw new AgentError("too_large", `the body is longer than ${jsonBytes} bytes (limit jsonBytes); send large data as a file`);
  const text = onLongNumber === undefined && bytes.length <= jsonValues ? textOf(bytes) : undefined;
  if (text !== undefined && isSmall(text, limits)) return parsed(text);
  const scan = scanJson(bytes, jsonValues);
  if (scan.depth > jsonDepth)
    throw new AgentError("too_large", `the body is nested ${scan.depth} levels deep; the limit is ${jsonDepth}`);
  // A few megabytes of empty objects take seconds to parse, and nothing else runs meanwhile.
  if (scan.values > jsonValues) throw tooManyValues(jsonValues);
  if (scan.longNumber) onLongNumber?.();
  return parsed(text ?? textOf(bytes));
}

/**
 * Certainly within the limits: no more opening brackets than levels, and no more characters than values. Nearly every message is, and
 * a native search for its few brackets takes a quarter of the time of a scan.
 */
function isSmall(text: string, { jsonDepth, jsonValues }: JsonLimits): boolean {
  if (text.length > jsonValues) return false;
  const objects = countUpTo(jsonDepth, "{", text);
  return objects <= jsonDepth && objects + countUpTo(jsonDepth, "[", text) <= jsonDepth;
}

/** Stops once there are more than `most`. */
function countUpTo(most: number, mark: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(mark); at !== -1 && count <= most; at = text.indexOf(mark, at + 1)) count++;
  return count;
}

function textOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw notJson("not UTF-8", cause);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw notJson(cause instanceof Error ? cause.message : String(cause), cause);
  }
}

function notJson(reason: string, cause: unknown): AgentError {
  return new AgentError("decode", `the body is not JSON: ${reason}`, { cause });
}

/** The same for a text, which need not be encoded for it. */
export function readJsonText(text: string, limits: JsonLimits): unknown {
  const { jsonBytes } = limits;
  // Too long perhaps, empty, or in need of the message for what is wrong with it.
  if (text === "" || (jsonBytes !== undefined && text.length * MOST_BYTES > jsonBytes))
    return readJson(encoder.encode(text), limits);
  if (!isSmall(text, limits) && !isWithin(text, limits)) return readJson(encoder.encode(text), limits);
  try {
    return JSON.parse(text);
  } catch {
    return readJson(encoder.encode(text), limits);
  }
}

/** By a scan of the whole text. */
function isWithin(text: string, { jsonDepth, jsonValues }: JsonLimits): boolean {
  let depth = 0;
  let deepest = 0;
  let values = 0;
  for (let index = 0; index < text.length && values <= jsonValues; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = closingQuote(text, index);
    else if (code === COMMA || code === COLON) values++;
    else if (code === 0x5d || code === 0x7d) depth--;
    else if (code === 0x5b || code === 0x7b) {
      values++;
      if (++depth > deepest) deepest = depth;
    }
  }
  return deepest <= jsonDepth && values <= jsonValues;
}

/** The index of the quote that ends a string, or past the end if there is none. */
function closingQuote(text: string, open: number): number {
  const scanned = Math.min(open + INLINE_SCAN, text.length);
  for (let index = open + 1; index < scanned; index++) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) return index;
    if (code === BACKSLASH) break;
  }
  for (let quote = text.indexOf('"', open + 1); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let before = quote;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    // An even run of backslashes does not escape the quote; the opening quote ends the run.
    if ((quote - before) % 2 === 0) return quote;
  }
  return text.length;
}

/**
 * Reads JSON texts inside the strings of one JSON text. That text was scanned before it was parsed, but not inside its strings: together
 * they may have as many values as one text.
 */
export class NestedJson {
  readonly #limits: JsonLimits;
  #left: number;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
    this.#left = limits.jsonValues;
  }

  /** The next text begins. */
  restart(): void {
    this.#left = this.#limits.jsonValues;
  }

  /** Throws AgentError `decode` or `too_large`. */
  read(text: string, onLongNumber?: () => void): unknown {
    const bytes = encoder.encode(text);
    this.#left -= scanJson(bytes, this.#left).values;
    if (this.#left < 0) throw tooManyValues(this.#limits.jsonValues);
    return readJson(bytes, this.#limits, onLongNumber);
  }
}

function tooManyValues(jsonValues: number): AgentError {
  return new AgentError("too_large", `the body has more than ${jsonValues} JSON values; send large data as a file`);
}
