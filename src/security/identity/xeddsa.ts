import { createHash, createPublicKey, type KeyObject, randomBytes, verify } from "node:crypto";
import type { Maybe } from "../../envelope/index.js";
import { jwkOfKey, keyBytes } from "./public-key.js";

/**
 * XEdDSA (signal.org/docs/specifications/xeddsa): signatures by an X25519 key, which prove that somebody has its private half. They
 * verify as Ed25519 signatures under the key's image on the Edwards curve whose sign bit is 0.
 */

const FIELD = 2n ** 255n - 19n;
const BYTES = 32;
/** hash_1 of the specification: 2^256 - 2 in little endian, so that no other use of the hash has the same input. */
const HASH_1 = Uint8Array.from([0xfe, ...new Array<number>(BYTES - 1).fill(0xff)]);

/** Loaded with the first use: `node:crypto` has no arithmetic on the curve. */
export async function signWithX25519(key: KeyObject, publicKey: Uint8Array, bytes: Uint8Array): Promise<Uint8Array> {
  const { ed25519 } = await import("@noble/curves/ed25519.js");
  const { Point } = ed25519;
  const secret = Buffer.from(String(key.export({ format: "jwk" })["d"]), "base64url");
  const scalarBytes = Buffer.alloc(BYTES);
  try {
    const order = Point.Fn.ORDER;
    const modOrder = (value: bigint): bigint => ((value % order) + order) % order;
    const scalar = modOrder(clamped(secret));
    const image = edwardsImage(publicKey);
    const isNegative = ((Point.BASE.multiply(scalar).toBytes()[BYTES - 1] ?? 0) & 0x80) !== 0;
    const a = isNegative ? modOrder(-scalar) : scalar;
    scalarBytes.set(littleEndian(a));
    const r = modOrder(numberOf(sha512(HASH_1, scalarBytes, bytes, randomBytes(64))));
    const point = Point.BASE.multiply(r).toBytes();
    const h = modOrder(numberOf(sha512(point, image, bytes)));
    return Buffer.concat([point, littleEndian(modOrder(r + h * a))]);
  } finally {
    secret.fill(0);
    scalarBytes.fill(0);
  }
}

/** Whether the private half of an X25519 key made this signature. */
export function verifyWithX25519(publicKey: Uint8Array, bytes: Uint8Array, signature: Uint8Array): boolean {
  const image = publicKey.length === BYTES ? edwardsKey(publicKey) : undefined;
  if (image === undefined || signature.length !== 2 * BYTES) return false;
  return verify(null, bytes, image, signature);
}

function edwardsKey(publicKey: Uint8Array): Maybe<KeyObject> {
  const bytes = keyBytes("Ed25519", edwardsImage(publicKey));
  if (bytes === undefined) return undefined;
  return createPublicKey({ key: jwkOfKey({ kind: "Ed25519", bytes }) as { kty: string }, format: "jwk" });
}

/** y = (u - 1) / (u + 1), RFC 7748 §4.1, with the sign bit 0. */
function edwardsImage(publicKey: Uint8Array): Uint8Array {
  const masked = Uint8Array.from(publicKey);
  masked[BYTES - 1] = (masked[BYTES - 1] ?? 0) & 0x7f;
  const u = numberOf(masked) % FIELD;
  return littleEndian(((u - 1n + FIELD) * power(u + 1n, FIELD - 2n)) % FIELD);
}

/** Of public values only: the time depends on them. */
function power(base: bigint, exponent: bigint): bigint {
  let result = 1n;
  for (let square = base % FIELD, left = exponent; left > 0n; left >>= 1n, square = (square * square) % FIELD)
    if (left & 1n) result = (result * square) % FIELD;
  return result;
}

/** RFC 7748 §5. */
function clamped(secret: Uint8Array): bigint {
  const bytes = Uint8Array.from(secret);
  bytes[0] = (bytes[0] ?? 0) & 0xf8;
  bytes[BYTES - 1] = ((bytes[BYTES - 1] ?? 0) & 0x7f) | 0x40;
  try {
    return numberOf(bytes);
  } finally {
    bytes.fill(0);
  }
}

function numberOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`);
}

function littleEndian(value: bigint): Uint8Array {
  return Buffer.from(value.toString(16).padStart(2 * BYTES, "0"), "hex").reverse();
}

function sha512(...parts: readonly Uint8Array[]): Uint8Array {
  const hash = createHash("sha512");
  for (const part of parts) hash.update(part);
  return hash.digest();
}
