import type { Maybe } from "../../envelope/index.js";

/** The Bitcoin alphabet, which multibase calls base58btc. */
const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const DIGITS: ReadonlyMap<string, number> = new Map(Array.from(ALPHABET, (digit, value) => [digit, value]));

/** Longer text is not decoded: decoding takes time that grows with the square of the length. */
const MAX_CHARS = 256;

export function encodeBase58(bytes: Uint8Array): string {
  const digits: number[] = [];
  for (const byte of bytes) {
    let carry = byte;
    for (let index = 0; index < digits.length; index++) {
      carry += (digits[index] ?? 0) * 256;
      digits[index] = carry % 58;
      carry = Math.floor(carry / 58);
    }
    for (; carry > 0; carry = Math.floor(carry / 58)) digits.push(carry % 58);
  }
  const zeros = leading(bytes, 0);
  return "1".repeat(zeros) + digits.reverse().reduce((text, digit) => text + (ALPHABET[digit] ?? ""), "");
}

/** Undefined if the text is not base58, or too long. */
export function decodeBase58(text: string): Maybe<Uint8Array> {
  if (text.length > MAX_CHARS) return undefined;
  const bytes: number[] = [];
  for (const digit of text) {
    const value = DIGITS.get(digit);
    if (value === undefined) return undefined;
    let carry = value;
    for (let index = 0; index < bytes.length; index++) {
      carry += (bytes[index] ?? 0) * 58;
      bytes[index] = carry & 0xff;
      carry >>= 8;
    }
    for (; carry > 0; carry >>= 8) bytes.push(carry & 0xff);
  }
  return Uint8Array.from([...new Array<number>(leading(text, "1")).fill(0), ...bytes.reverse()]);
}

function leading<T>(items: Iterable<T>, zero: T): number {
  let count = 0;
  for (const item of items) {
    if (item !== zero) break;
    count++;
  }
  return count;
}
