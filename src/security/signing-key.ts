import {
  constants,
  createHash,
  createPrivateKey,
  createPublicKey,
  type JsonWebKey,
  type KeyObject,
  type SigningOptions,
  sign,
  verify,
} from "node:crypto";
import { AgentError, isObject, type JsonObject, type Maybe } from "../envelope/index.js";
import { canonicalJson } from "./json-canonical.js";
import { type NewKeyKind, newPrivateKey } from "./new-key.js";

/** The supported signature algorithms of RFC 7518 and RFC 8037. */
export const SIGNING_ALGORITHMS = ["EdDSA", "ES256", "ES384", "PS256", "RS256"] as const;
/** A supported signature algorithm. */
export type SigningAlgorithm = (typeof SIGNING_ALGORITHMS)[number];

/** Minimum RSA key size (RFC 7518 §3.3). */
export const MIN_RSA_BITS = 2_048;

/** The identifying members of a public key (RFC 7638 §3.2, RFC 8037 §2), by type. */
const THUMBPRINT_MEMBERS: { readonly [kty: string]: readonly string[] } = {
  EC: ["crv", "kty", "x", "y"],
  OKP: ["crv", "kty", "x"],
  RSA: ["e", "kty", "n"],
};

/** A key as text or object: PEM (PKCS#8 or SPKI) or JWK. */
export type KeyText = string | JsonObject;

/** Reads a private key from PEM or JWK. Errors never show any of it. */
export function readPrivateKey(key: KeyText): KeyObject {
  const jwk = jwkOf(key);
  try {
    return jwk === undefined ? createPrivateKey(String(key)) : createPrivateKey({ key: jwk, format: "jwk" });
  } catch {
    // The crypto library's error may quote its input, so it is not kept as a cause.
    throw new AgentError("invalid_message", "this is not a private key in PEM (PKCS#8, without passphrase) or JWK form");
  }
}

/** Reads a public key from PEM or JWK, or the public half of a private key. */
export function readPublicKey(key: KeyText): KeyObject {
  const jwk = jwkOf(key);
  try {
    return jwk === undefined ? createPublicKey(String(key)) : createPublicKey({ key: publicMembers(jwk), format: "jwk" });
  } catch {
    throw new AgentError("invalid_message", "this is not a public key in PEM (SPKI) or JWK form");
  }
}

/** The JWK as an object, whether given as one or as text. */
export function jwkOf(key: KeyText): Maybe<JsonObject & JsonWebKey> {
  if (typeof key !== "string") return key as JsonObject & JsonWebKey; // its members are checked on import
  if (!key.trimStart().startsWith("{")) return undefined;
  try {
    const parsed: unknown = JSON.parse(key);
    return isObject(parsed) ? (parsed as JsonObject & JsonWebKey) : undefined;
  } catch {
    return undefined;
  }
}

function publicMembers(jwk: JsonObject): JsonWebKey {
  const names = THUMBPRINT_MEMBERS[String(jwk["kty"])] ?? [];
  return Object.fromEntries(names.map((name) => [name, jwk[name]])) as JsonWebKey; // strings, or the import refuses it
}

/** The algorithms a key supports, preferred first. Weak and unsupported keys are refused. */
export function algorithmsOf(key: KeyObject): readonly SigningAlgorithm[] {
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === "ed25519") return ["EdDSA"];
  if (type === "ec" && details?.namedCurve === "prime256v1") return ["ES256"];
  if (type === "ec" && details?.namedCurve === "secp384r1") return ["ES384"];
  if (type !== "rsa")
    throw new AgentError("unsupported", `keys of type ${type ?? "unknown"} are not supported; use Ed25519, P-256, P-384 or RSA`);
  const bits = details?.modulusLength ?? 0;
  if (bits < MIN_RSA_BITS)
    throw new AgentError("invalid_message", `the RSA key has ${bits} bits; at least ${MIN_RSA_BITS} are required`);
  return ["PS256", "RS256"];
}

/** The public key as a JWK with only its identifying members. */
export function publicJwk(key: KeyObject): JsonObject {
  const half = key.type === "private" ? createPublicKey(key) : key;
  return publicMembers(half.export({ format: "jwk" }) as JsonObject) as JsonObject;
}

/** RFC 7638: an id that can be computed from the key. */
export function thumbprint(key: KeyObject): string {
  return createHash("sha256")
    .update(canonicalJson(publicJwk(key)))
    .digest("base64url");
}

/** A new key in all formats. All members but the last two are secret. */
export interface NewKey {
  readonly privatePem: string;
  readonly privateJwk: JsonObject;
  readonly publicJwk: JsonObject;
  readonly kid: string;
}

/** The kind of a new key for each algorithm. */
const NEW_KEYS: { readonly [A in SigningAlgorithm]: NewKeyKind } = {
  EdDSA: "Ed25519",
  ES256: "P-256",
  ES384: "P-384",
  PS256: "RSA-3072",
  RS256: "RSA-3072",
};

/** `kid`: identifies the public key. Default: its RFC 7638 thumbprint. */
export function newCardKey(algorithm: SigningAlgorithm, kid?: string): NewKey {
  const key = newPrivateKey(NEW_KEYS[algorithm]);
  const named = { kid: kid ?? thumbprint(key), alg: algorithm, use: "sig" };
  return {
    privatePem: String(key.export({ format: "pem", type: "pkcs8" })),
    privateJwk: { ...(key.export({ format: "jwk" }) as JsonObject), ...named },
    publicJwk: { ...publicJwk(key), ...named },
    kid: named.kid,
  };
}

/** ECDSA in the fixed-length form of JWS (RFC 7518 §3.4), PSS with a salt as long as the digest (§3.5). */
const PARAMETERS = {
  EdDSA: { digest: null },
  ES256: { digest: "sha256", dsaEncoding: "ieee-p1363" },
  ES384: { digest: "sha384", dsaEncoding: "ieee-p1363" },
  PS256: { digest: "sha256", padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST },
  RS256: { digest: "sha256", padding: constants.RSA_PKCS1_PADDING },
} as const satisfies Record<SigningAlgorithm, SigningOptions & { readonly digest: string | null }>;

export function signBytes(algorithm: SigningAlgorithm, key: KeyObject, data: Uint8Array): Uint8Array {
  const { digest, ...how } = PARAMETERS[algorithm];
  return sign(digest, data, { key, ...how });
}

export function verifyBytes(algorithm: SigningAlgorithm, key: KeyObject, data: Uint8Array, signature: Uint8Array): boolean {
  const { digest, ...how } = PARAMETERS[algorithm];
  return verify(digest, data, { key, ...how }, signature);
}
