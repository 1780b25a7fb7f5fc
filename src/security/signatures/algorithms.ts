import {
  constants,
  type KeyObject,
  type SigningOptions,
  sign as signWith,
  timingSafeEqual,
  verify as verifyWith,
} from "node:crypto";
import { AgentError } from "../../envelope/index.js";
import { hmacSha256 } from "../hmac.js";

/**
 * How each algorithm signs, and the key that it takes. The names are those of the IANA registry; `es256k` is ECDSA with secp256k1 and
 * SHA-256, which has no registered name.
 */
const ALGORITHMS = {
  ed25519: { digest: null, key: "ed25519" },
  "ecdsa-p256-sha256": { digest: "sha256", key: "prime256v1", dsaEncoding: "ieee-p1363" },
  "ecdsa-p384-sha384": { digest: "sha384", key: "secp384r1", dsaEncoding: "ieee-p1363" },
  es256k: { digest: "sha256", key: "secp256k1", dsaEncoding: "ieee-p1363" },
  "rsa-pss-sha512": { digest: "sha512", key: "rsa", padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 64 },
  "rsa-v1_5-sha256": { digest: "sha256", key: "rsa", padding: constants.RSA_PKCS1_PADDING },
  "hmac-sha256": { digest: "sha256", key: "secret" },
} as const satisfies Record<string, SigningOptions & { readonly digest: string | null; readonly key: string }>;

/** A signature algorithm of RFC 9421, or `es256k`. */
export type SignatureAlgorithm = keyof typeof ALGORITHMS;

/** A shared secret is at least as long as the digest (RFC 2104 §3). */
const MIN_SECRET_BYTES = 32;
const MIN_RSA_BITS = 2_048;

/** Refuses a key of another kind than the algorithm takes, and weak ones. */
export function checkKey(key: KeyObject, algorithm: SignatureAlgorithm): void {
  const wanted = ALGORITHMS[algorithm].key;
  const kind = kindOf(key);
  if (kind !== wanted) throw new AgentError("invalid_message", `${algorithm} needs a key of kind ${wanted}, not ${kind}`);
  if (wanted === "secret" && (key.symmetricKeySize ?? 0) < MIN_SECRET_BYTES)
    throw new AgentError("invalid_message", `a shared secret needs at least ${MIN_SECRET_BYTES} bytes`);
  if (wanted === "rsa" && (key.asymmetricKeyDetails?.modulusLength ?? 0) < MIN_RSA_BITS)
    throw new AgentError("invalid_message", `an RSA key needs at least ${MIN_RSA_BITS} bits`);
}

/** The only algorithm of a key; an RSA key has two, so it must be named. */
export function algorithmOf(key: KeyObject): SignatureAlgorithm {
  const kind = kindOf(key);
  for (const [name, algorithm] of Object.entries(ALGORITHMS))
    if (algorithm.key === kind && kind !== "rsa") return name as SignatureAlgorithm; // a key of the table
  throw new AgentError("invalid_message", `name the signature algorithm of this key: its kind is ${kind}`);
}

function kindOf(key: KeyObject): string {
  if (key.type === "secret") return "secret";
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === "rsa-pss") return "rsa"; // the same numbers; the certificate merely restricts their use
  return type === "ec" ? (details?.namedCurve ?? "ec") : (type ?? "unknown");
}

/** The key must have passed `checkKey`. */
export function signBase(algorithm: SignatureAlgorithm, key: KeyObject, base: Uint8Array): Uint8Array {
  if (algorithm === "hmac-sha256") return hmacSha256(key, base);
  const { digest, key: _, ...options } = ALGORITHMS[algorithm];
  const signature = signWith(digest, base, { key, ...options });
  return algorithm === "es256k" ? withLowS(signature) : signature;
}

/** The key must have passed `checkKey`. False for a signature of the wrong length, too. */
export function verifyBase(algorithm: SignatureAlgorithm, key: KeyObject, base: Uint8Array, signature: Uint8Array): boolean {
  if (algorithm === "hmac-sha256") {
    const expected = hmacSha256(key, base);
    return signature.length === expected.length && timingSafeEqual(signature, expected);
  }
  if (algorithm === "es256k" && !hasLowS(signature)) return false;
  if (algorithm === "ed25519") return signature.length === 64 && verifyWith(null, base, key, signature);
  const { digest, key: _, ...options } = ALGORITHMS[algorithm];
  return verifyWith(digest, base, { key, ...options }, signature);
}

/** The order of the group of secp256k1. For every signature (r, s) there is a second one, (r, order - s). Only the lower one is valid. */
const SECP256K1_ORDER = 0xffffffff_ffffffff_ffffffff_fffffffe_baaedce6_af48a03b_bfd25e8c_d0364141n;
const HALF_ORDER = SECP256K1_ORDER / 2n;
const SCALAR_BYTES = 32;

export function hasLowS(signature: Uint8Array): boolean {
  return signature.length === 2 * SCALAR_BYTES && scalarOf(signature.subarray(SCALAR_BYTES)) <= HALF_ORDER;
}

/** The same signature with the lower s. */
export function withLowS(signature: Uint8Array): Uint8Array {
  if (signature.length !== 2 * SCALAR_BYTES || hasLowS(signature)) return signature;
  const other = SECP256K1_ORDER - scalarOf(signature.subarray(SCALAR_BYTES));
  const s = Buffer.from(other.toString(16).padStart(2 * SCALAR_BYTES, "0"), "hex");
  return Buffer.concat([signature.subarray(0, SCALAR_BYTES), s]);
}

function scalarOf(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex")}`);
}
