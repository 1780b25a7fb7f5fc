import type { Maybe } from "../../../envelope/index.js";
import { type HttpResponse, isStream } from "../../../transport/exchange.js";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;

/** The bytes of a complete response, as received. */
export function bodyBytes({ body }: HttpResponse): Uint8Array {
  if (body === undefined || isStream(body)) return new Uint8Array();
  return typeof body === "string" ? new TextEncoder().encode(body) : body;
}

/**
 * The bytes of one member of a JSON object, as received: signed data must not be re-encoded. The text was parsed before, so it is
 * valid JSON. The last of duplicate names wins, as in the parser.
 */
export function rawMember(bytes: Uint8Array, wanted: string): Maybe<Uint8Array> {
  let depth = 0;
  let name = "";
  let start: Maybe<number>;
  let found: Maybe<Uint8Array>;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] as number; // index < length
    if (byte === QUOTE) {
      const end = endOfString(bytes, index);
      // At this depth a string before the colon is a name.
      if (depth === 1 && start === undefined) name = JSON.parse(new TextDecoder().decode(bytes.subarray(index, end))) as string;
      index = end - 1;
    } else if (isOpening(byte)) depth++;
    else if (depth === 1 && start === undefined && byte === COLON) start = index + 1;
    else if (depth === 1 && start !== undefined && (byte === COMMA || isClosing(byte))) {
      if (name === wanted) found = bytes.subarray(start, index);
      start = undefined;
    }
    if (isClosing(byte)) depth--;
  }
  return found;
}

/** `[` 0x5b and `{` 0x7b differ in one bit, as do `]` and `}`. */
function isOpening(byte: number): boolean {
  return (byte & 0xdf) === 0x5b;
}

function isClosing(byte: number): boolean {
  return (byte & 0xdf) === 0x5d;
}

/** The index after the closing quote. */
function endOfString(bytes: Uint8Array, open: number): number {
  for (let index = open + 1; index < bytes.length; index++) {
    if (bytes[index] === BACKSLASH) index++;
    else if (bytes[index] === QUOTE) return index + 1;
  }
  return bytes.length;
}
