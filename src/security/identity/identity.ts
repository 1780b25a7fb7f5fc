import type { Awaitable, JsonObject, Maybe } from "../../envelope/index.js";

/** The kinds of keys. X25519 agrees on secrets; the others sign. */
export type KeyKind = "Ed25519" | "P-256" | "secp256k1" | "X25519";

/** What a DID document lists a key for. A key is used for nothing else. */
export type KeyUse = "authentication" | "assertion" | "agreement";

/** The hash of a secp256k1 signature. The other kinds have one hash each. */
export type SignatureHash = "sha256" | "keccak256";

/** A public key of a DID. */
export interface PublicKey {
  /** The full DID URL of the key. */
  readonly id: string;
  readonly kind: KeyKind;
  /** Ed25519 and X25519: 32 bytes. P-256 and secp256k1: the uncompressed point, 65 bytes, on the curve. */
  readonly bytes: Uint8Array;
  readonly uses: readonly KeyUse[];
  /** Not valid from this time on, in milliseconds since the epoch. */
  readonly expires?: Maybe<number>;
}

/** The identity of an agent. Private keys stay inside: JSON and `inspect` show `name` and `did` only. */
export interface Identity {
  /** The name that its user gave it, for caches and messages. */
  readonly name: string;
  readonly did: string;
  /** The keys in use, the preferred one of each kind first. */
  keys(): readonly PublicKey[];
  /**
   * Signs bytes, here or on a device or service: Ed25519, or ECDSA as r‖s in 64 bytes (P-256 with SHA-256; secp256k1 with `hash`, default
   * SHA-256, and low s). Throws `not_found` for a key that it does not have, `unsupported` for one that cannot sign.
   */
  sign(keyId: string, bytes: Uint8Array, hash?: Maybe<SignatureHash>): Awaitable<Uint8Array>;
  /** The secret shared with an X25519 public key, 32 bytes. Throws like `sign`, and `bad_peer` for a key without a secret. */
  agree(keyId: string, peer: Uint8Array): Awaitable<Uint8Array>;
  /** The documents of DIDs that this one replaced, signed by their own keys, to be published with its own. Absent: there are none. */
  retired?(): readonly JsonObject[];
}
