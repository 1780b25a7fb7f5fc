import { createHmac, hash, type KeyObject } from "node:crypto";

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
/** The base of a signature and the text of a pseudonym are usually shorter. Anything longer is left to `createHmac`. */
const ROOM = 4_096;
/** Of one UTF-16 unit in UTF-8. */
const MOST_BYTES = 3;

/** The key as RFC 2104 mixes it into both hashes. */
interface Pads {
  readonly inner: Uint8Array;
  readonly outer: Uint8Array;
}

const padsOf = new WeakMap<KeyObject, Pads>();
/** Written for every message, and read at once. */
const innerInput = Buffer.alloc(BLOCK_BYTES + ROOM);
const outerInput = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES);
/** The part in use. Its length seldom changes, and a view costs more than writing into it. */
let innerUsed = innerInput;
/** What both inputs begin with. */
let padsInUse: Pads | undefined;

/** HMAC-SHA-256 of RFC 2104, as two hashes: for a few hundred bytes an object of `createHmac` costs twice as much. A text is UTF-8. */
export function hmacSha256(key: KeyObject, message: Uint8Array | string): Buffer {
  const isText = typeof message === "string";
  if (message.length * (isText ? MOST_BYTES : 1) > ROOM) return createHmac("sha256", key).update(message).digest();
  usePads(padsOf.get(key) ?? newPads(key));
  if (!isText) innerInput.set(message, BLOCK_BYTES);
  const length = BLOCK_BYTES + (isText ? innerInput.write(message, BLOCK_BYTES) : message.length);
  if (innerUsed.length !== length) innerUsed = innerInput.subarray(0, length);
  // As text: a digest as a buffer takes twice as long.
  outerInput.write(hash("sha256", innerUsed, "binary"), BLOCK_BYTES, "latin1");
  return Buffer.from(hash("sha256", outerInput, "binary"), "latin1");
}

function usePads(pads: Pads): void {
  if (pads === padsInUse) return;
  padsInUse = pads;
  innerInput.set(pads.inner);
  outerInput.set(pads.outer);
}

function newPads(key: KeyObject): Pads {
  const secret = key.export();
  const short = secret.length > BLOCK_BYTES ? hash("sha256", secret, "buffer") : secret;
  const mixed = (pad: number): Uint8Array => Uint8Array.from({ length: BLOCK_BYTES }, (_, at) => (short[at] ?? 0) ^ pad);
  const pads = { inner: mixed(0x36), outer: mixed(0x5c) };
  padsOf.set(key, pads);
  return pads;
}
