import { decodeBase64Natively } from "../envelope/base64.js";
import { DecodeProblem } from "./fields.js";

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const PADDING = 0x3d;
const INVALID = 255;
const letters = Uint8Array.from(ALPHABET, (letter) => letter.charCodeAt(0));
const values = new Uint8Array(128).fill(INVALID);
for (let value = 0; value < letters.length; value++) values[letters[value] ?? 0] = value;
values["-".charCodeAt(0)] = 62;
values["_".charCodeAt(0)] = 63;

/** Standard or URL-safe base64, padded or not, as ProtoJSON requires. */
export function readBase64(value: unknown, path: string): Uint8Array {
  if (typeof value !== "string") throw new DecodeProblem(path, "must be a base64 string");
  const length = lengthWithoutPadding(value);
  if (length % 4 === 1 || (length < value.length && value.length % 4 !== 0)) throw notBase64(path, value.length);
  const byteLength = Math.floor((length * 3) / 4);
  const decoded = decodeBase64Natively(value, byteLength);
  if (decoded !== undefined) return decoded;
  const bytes = new Uint8Array(byteLength);
  let group = 0;
  let bits = 0;
  let at = 0;
  for (let index = 0; index < length; index++) {
    const code = value.charCodeAt(index);
    const six = code < 128 ? byteAt(values, code) : INVALID;
    if (six === INVALID) throw notBase64(path, index);
    group = (group << 6) | six;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = (group >> bits) & 255;
    }
  }
  return bytes;
}

function lengthWithoutPadding(text: string): number {
  let length = text.length;
  if (length > 0 && text.charCodeAt(length - 1) === PADDING) length--;
  if (length > 0 && length < text.length && text.charCodeAt(length - 1) === PADDING) length--;
  return length;
}

function notBase64(path: string, index: number): DecodeProblem {
  return new DecodeProblem(path, `is not base64 (at character ${index})`);
}

/** Reads zero past the end, as the last base64 group requires. */
function byteAt(bytes: Uint8Array, index: number): number {
  return bytes[index] ?? 0;
}
