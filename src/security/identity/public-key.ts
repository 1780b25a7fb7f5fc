import { createHash, createPublicKey, ECDH, type KeyObject, verify } from "node:crypto";
import { AgentError, isObject, type JsonObject, type Maybe } from "../../envelope/index.js";
import { canonicalJson } from "../json-canonical.js";
import type { KeyKind, KeyUse, PublicKey } from "./identity.js";

/** What the formats say about each kind: the JWK members, and the name of the curve in OpenSSL. */
export const KEY_KINDS = {
  Ed25519: { kty: "OKP", curve: undefined },
  "P-256": { kty: "EC", curve: "prime256v1" },
  secp256k1: { kty: "EC", curve: "secp256k1" },
  X25519: { kty: "OKP", curve: undefined },
} as const satisfies Record<KeyKind, { readonly kty: "OKP" | "EC"; readonly curve: Maybe<string> }>;

/** Whether a word names a kind of key. */
export function isKeyKind(word: unknown): word is KeyKind {
  return typeof word === "string" && Object.hasOwn(KEY_KINDS, word);
}

/** Whether a key of this kind can have this use: X25519 cannot sign, and the others agree on nothing here. */
export function suits(kind: KeyKind, use: KeyUse): boolean {
  return (kind === "X25519") === (use === "agreement");
}

/** Of an X or Y coordinate, and of a key of Curve25519. */
const COORDINATE_BYTES = 32;

/**
 * Ed25519 points of small order, without the sign bit, in all encodings (RFC 8032 §5.1.3, RFC 7748 §6.1): with such a key one signature
 * verifies for many messages.
 */
const SMALL_ORDER: ReadonlySet<string> = new Set([
  "0000000000000000000000000000000000000000000000000000000000000000",
  "0100000000000000000000000000000000000000000000000000000000000000",
  "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
  "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
  "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
  "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
]);

/** The bytes of a key in the form of `PublicKey`; undefined if they are no key of this kind. Points may be compressed. */
export function keyBytes(kind: KeyKind, bytes: Uint8Array): Maybe<Uint8Array> {
  const { curve } = KEY_KINDS[kind];
  if (curve !== undefined) return uncompressed(bytes, curve);
  if (bytes.length !== COORDINATE_BYTES) return undefined;
  return kind === "Ed25519" && isSmallOrder(bytes) ? undefined : Uint8Array.from(bytes);
}

function isSmallOrder(bytes: Uint8Array): boolean {
  const unsigned = Uint8Array.from(bytes);
  unsigned[31] = (unsigned[31] ?? 0) & 0x7f;
  return SMALL_ORDER.has(Buffer.from(unsigned).toString("hex"));
}

/** OpenSSL checks that the point is on the curve. Its hybrid form (6, 7) is not used by any format here. */
function uncompressed(bytes: Uint8Array, curve: string): Maybe<Uint8Array> {
  const [form = 0] = bytes;
  const length = form === 4 ? 1 + 2 * COORDINATE_BYTES : 1 + COORDINATE_BYTES;
  if (![2, 3, 4].includes(form) || bytes.length !== length) return undefined;
  try {
    return Uint8Array.from(ECDH.convertKey(bytes, curve, undefined, undefined, "uncompressed") as Buffer); // without an encoding
  } catch {
    return undefined;
  }
}

/** The 33-byte form of a point; other keys as they are. */
export function compressedBytes({ kind, bytes }: Pick<PublicKey, "kind" | "bytes">): Uint8Array {
  if (KEY_KINDS[kind].curve === undefined) return bytes;
  const odd = (bytes[2 * COORDINATE_BYTES] ?? 0) & 1;
  return Uint8Array.from([2 + odd, ...bytes.subarray(1, 1 + COORDINATE_BYTES)]);
}

/** The public JWK with only its identifying members (RFC 7638). */
export function jwkOfKey({ kind, bytes }: Pick<PublicKey, "kind" | "bytes">): JsonObject {
  const { kty } = KEY_KINDS[kind];
  if (kty === "OKP") return { crv: kind, kty, x: base64url(bytes) };
  const x = bytes.subarray(1, 1 + COORDINATE_BYTES);
  return { crv: kind, kty, x: base64url(x), y: base64url(bytes.subarray(1 + COORDINATE_BYTES)) };
}

/** The members of a JWK that hold private keys (RFC 7518 §6). */
const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"] as const;

/** Whether a JWK contains a private or symmetric key. */
export function hasPrivatePart(jwk: JsonObject): boolean {
  return PRIVATE_MEMBERS.some((member) => Object.hasOwn(jwk, member));
}

/** The kind and bytes of a public JWK; undefined if it is of another kind or invalid. */
export function keyOfJwk(jwk: unknown): Maybe<Pick<PublicKey, "kind" | "bytes">> {
  if (!isObject(jwk) || !isKeyKind(jwk["crv"]) || KEY_KINDS[jwk["crv"]].kty !== jwk["kty"]) return undefined;
  const kind = jwk["crv"];
  const x = coordinate(jwk["x"]);
  const y = KEY_KINDS[kind].kty === "EC" ? coordinate(jwk["y"]) : undefined;
  if (x === undefined || (y === undefined && KEY_KINDS[kind].kty === "EC")) return undefined;
  const bytes = keyBytes(kind, y === undefined ? x : Uint8Array.from([4, ...x, ...y]));
  return bytes === undefined ? undefined : { kind, bytes };
}

/** Exactly 32 bytes in base64url without padding, in the one spelling that encodes them. */
function coordinate(text: unknown): Maybe<Uint8Array> {
  if (typeof text !== "string" || text.length !== 43) return undefined;
  const bytes = Buffer.from(text, "base64url");
  return bytes.length === COORDINATE_BYTES && base64url(bytes) === text ? bytes : undefined;
}

/** RFC 7638: SHA-256 of the JWK in base64url. */
export function keyFingerprint(key: Pick<PublicKey, "kind" | "bytes">): string {
  return createHash("sha256")
    .update(canonicalJson(jwkOfKey(key)))
    .digest("base64url");
}

const imported = new WeakMap<PublicKey, KeyObject>();

/** The key for `node:crypto`. Imported once for each key of a document. */
export function keyObjectOf(key: PublicKey): KeyObject {
  const known = imported.get(key);
  if (known !== undefined) return known;
  const made = createPublicKey({ key: jwkOfKey(key) as { kty: string }, format: "jwk" });
  imported.set(key, made);
  return made;
}

const SIGNATURE_BYTES = 64;

/**
 * Checks a signature in the form of `Identity.sign`, secp256k1 with SHA-256. A key that the document does not list for `use` verifies
 * nothing.
 */
export function verifySignature(
  key: PublicKey,
  use: Exclude<KeyUse, "agreement">,
  bytes: Uint8Array,
  signature: Uint8Array,
): boolean {
  if (!key.uses.includes(use) || !suits(key.kind, use) || signature.length !== SIGNATURE_BYTES) return false;
  if (key.kind === "Ed25519") return verify(null, bytes, keyObjectOf(key), signature);
  return verify("sha256", bytes, { key: keyObjectOf(key), dsaEncoding: "ieee-p1363" }, signature);
}

/** The named key, or an error that says what the document offers. */
export function keyIn(keys: readonly PublicKey[], keyId: string, did: string): PublicKey {
  const key = keys.find(({ id }) => id === keyId);
  if (key === undefined) throw new AgentError("not_found", `${did} has no key ${keyId.slice(0, 200)}`, { sent: "no" });
  return key;
}

function base64url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64url");
}
