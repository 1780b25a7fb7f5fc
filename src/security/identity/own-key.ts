import { createPrivateKey, createPublicKey, diffieHellman, type KeyObject, sign } from "node:crypto";
import { AgentError, type JsonObject, type Maybe } from "../../envelope/index.js";
import { newPrivateKey } from "../new-key.js";
import type { KeyKind, KeyUse, PublicKey, SignatureHash } from "./identity.js";
import { jwkOfKey, keyBytes, keyOfJwk } from "./public-key.js";
import { signWithX25519 } from "./xeddsa.js";

/** The dates of a key, in milliseconds since the epoch. */
export interface KeyDates {
  readonly created: number;
  /** A newer key took its place; from `expires` on it is not valid. */
  readonly rotated?: Maybe<number>;
  readonly expires?: Maybe<number>;
  readonly revoked?: Maybe<number>;
}

/** What is known of a key besides its bytes. */
export interface KeyFacts extends KeyDates {
  readonly id: string;
  readonly uses: readonly KeyUse[];
  /** The DID is made of this key, so that it cannot be rotated. */
  readonly namesDid?: Maybe<boolean>;
}

/** Half of the order of secp256k1 (SEC 2 §2.4.1): a larger `s` has a smaller equivalent. */
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const COORDINATE_BYTES = 32;

/** A key pair. The private half is in a private field: JSON, `inspect` and clones show the public members only. */
export class OwnKey implements PublicKey, KeyFacts {
  readonly id: string;
  readonly kind: KeyKind;
  readonly bytes: Uint8Array;
  readonly uses: readonly KeyUse[];
  readonly created: number;
  readonly rotated: Maybe<number>;
  readonly expires: Maybe<number>;
  readonly revoked: Maybe<number>;
  readonly namesDid: Maybe<boolean>;
  readonly #private: Maybe<KeyObject>;

  constructor(facts: KeyFacts, key: Pick<PublicKey, "kind" | "bytes">, privateKey: Maybe<KeyObject>) {
    this.id = facts.id;
    this.kind = key.kind;
    this.bytes = key.bytes;
    this.uses = facts.uses;
    this.created = facts.created;
    this.rotated = facts.rotated;
    this.expires = facts.expires;
    this.revoked = facts.revoked;
    this.namesDid = facts.namesDid;
    this.#private = privateKey;
  }

  get hasPrivate(): boolean {
    return this.#private !== undefined;
  }

  isValid(now: number): boolean {
    return this.revoked === undefined && (this.expires === undefined || now < this.expires);
  }

  /** The same key with other facts. */
  with(facts: Partial<KeyFacts>, privateKey: "keep" | "drop"): OwnKey {
    const { id, uses, created, rotated, expires, revoked, namesDid } = this;
    const now = { id, uses, created, rotated, expires, revoked, namesDid, ...facts };
    return new OwnKey(now, this, privateKey === "keep" ? this.#private : undefined);
  }

  sign(bytes: Uint8Array, hash: SignatureHash = "sha256"): Uint8Array | Promise<Uint8Array> {
    const key = this.#privateFor("sign");
    if (hash === "keccak256" && this.kind !== "secp256k1")
      throw new AgentError("unsupported", `${this.kind} keys do not sign with Keccak-256`, { sent: "no" });
    switch (this.kind) {
      case "Ed25519":
        return sign(null, bytes, key);
      case "P-256":
        return sign("sha256", bytes, { key, dsaEncoding: "ieee-p1363" });
      case "secp256k1":
        return hash === "keccak256" ? signKeccak(bytes, key) : lowS(sign("sha256", bytes, { key, dsaEncoding: "ieee-p1363" }));
      case "X25519":
        throw new AgentError("unsupported", `${this.id} is a key for agreement; it cannot sign`, { sent: "no" });
    }
  }

  agree(peer: Uint8Array): Uint8Array {
    if (this.kind !== "X25519")
      throw new AgentError("unsupported", `${this.id} is a key for signatures; it cannot agree on secrets`, { sent: "no" });
    const bytes = keyBytes("X25519", peer);
    if (bytes === undefined) throw new AgentError("bad_peer", "the peer's key is not an X25519 key of 32 bytes", { sent: "no" });
    const publicKey = createPublicKey({ key: jwkOfKey({ kind: "X25519", bytes }) as { kty: string }, format: "jwk" });
    try {
      return diffieHellman({ privateKey: this.#privateFor("agree"), publicKey });
    } catch (thrown) {
      if (thrown instanceof AgentError) throw thrown;
      throw new AgentError("bad_peer", "the peer's X25519 key has small order", { sent: "no" }); // RFC 7748 §6.1
    }
  }

  /** A signature that proves possession: that of `sign`, and of an X25519 key an XEdDSA signature (`xeddsa.ts`). */
  prove(bytes: Uint8Array): Uint8Array | Promise<Uint8Array> {
    if (this.kind === "X25519") return signWithX25519(this.#privateFor("sign"), this.bytes, bytes);
    return this.sign(bytes, this.kind === "secp256k1" ? "keccak256" : undefined);
  }

  /** For the key file only. */
  privateJwk(): Maybe<JsonObject> {
    return this.#private?.export({ format: "jwk" }) as Maybe<JsonObject>;
  }

  #privateFor(act: "sign" | "agree"): KeyObject {
    if (this.#private !== undefined) return this.#private;
    const why = this.revoked === undefined ? "a newer key took its place" : "it is revoked";
    throw new AgentError("not_found", `${this.id} cannot ${act}: ${why}`, { sent: "no" });
  }
}

/** A new key. `facts` is given the public half, because the id of some DIDs contains it. */
export function generateKey(kind: KeyKind, facts: (key: Pick<PublicKey, "kind" | "bytes">) => KeyFacts): OwnKey {
  const privateKey = newPrivateKey(kind);
  const key = publicHalf(privateKey);
  if (key === undefined) throw new AgentError("internal", `a new ${kind} key has no public half`);
  return new OwnKey(facts(key), key, privateKey);
}

/** Undefined if it is not a private JWK of a known kind, or its public half does not belong to it. */
export function ownKeyOfJwk(jwk: JsonObject, facts: KeyFacts): Maybe<OwnKey> {
  try {
    const privateKey = createPrivateKey({ key: jwk as { kty: string }, format: "jwk" });
    const key = publicHalf(privateKey);
    const stated = keyOfJwk(jwk);
    if (key === undefined || stated === undefined || Buffer.compare(key.bytes, stated.bytes) !== 0) return undefined;
    return new OwnKey(facts, key, privateKey);
  } catch {
    return undefined; // The error of the crypto library may quote the key.
  }
}

/** Computed from the private half: a JWK can state any other. */
function publicHalf(privateKey: KeyObject): Maybe<Pick<PublicKey, "kind" | "bytes">> {
  return keyOfJwk(createPublicKey(privateKey.export({ format: "pem", type: "pkcs8" })).export({ format: "jwk" }));
}

/** Verifiers of blockchains accept only the smaller of the two equivalent values. */
function lowS(signature: Uint8Array): Uint8Array {
  const s = BigInt(`0x${Buffer.from(signature.subarray(COORDINATE_BYTES)).toString("hex")}`);
  if (s <= ORDER / 2n) return signature;
  const low = Buffer.from((ORDER - s).toString(16).padStart(2 * COORDINATE_BYTES, "0"), "hex");
  return Buffer.concat([signature.subarray(0, COORDINATE_BYTES), low]);
}

/** `node:crypto` has no Keccak and signs no digests. Loaded with the first use: few peers need it. */
async function signKeccak(bytes: Uint8Array, key: KeyObject): Promise<Uint8Array> {
  const [{ secp256k1 }, { keccak_256 }] = await Promise.all([
    import("@noble/curves/secp256k1.js"),
    import("@noble/hashes/sha3.js"),
  ]);
  const secret = Buffer.from(String(key.export({ format: "jwk" })["d"]), "base64url");
  try {
    return secp256k1.sign(keccak_256(bytes), secret, { prehash: false, lowS: true });
  } finally {
    secret.fill(0);
  }
}
