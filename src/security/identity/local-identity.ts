import { AgentError, type JsonObject, type Maybe } from "../../envelope/index.js";
import { checkedDid } from "./did.js";
import type { Identity, KeyKind, KeyUse, PublicKey, SignatureHash } from "./identity.js";
import { encodeMultikey } from "./multikey.js";
import { generateKey, type KeyFacts, type OwnKey } from "./own-key.js";
import { keyFingerprint, keyIn } from "./public-key.js";

/** How an identity is made. */
export interface NewIdentity {
  /** Its name, for messages and caches. */
  readonly name: string;
  /** The DID, `key` for the did:key of its key, or a function of its first key. */
  readonly did: string | ((first: Pick<PublicKey, "kind" | "bytes">) => string);
  /** Default: Ed25519 for signatures and X25519 for agreement; of a did:key only the first. */
  readonly kinds?: Maybe<readonly KeyKind[]>;
  /** What follows the # in the id of a key, where its registry chooses it. Default: `key-` and a number. */
  readonly keyName?: Maybe<(key: Pick<PublicKey, "kind" | "bytes">) => string>;
  /** Milliseconds since the epoch. Default: the system clock. */
  readonly now?: Maybe<() => number>;
}

/** How keys are replaced. */
export interface Rotation {
  /** How long signatures of the old keys stay valid. */
  readonly overlapMs: number;
  /** Default: every kind that it has. */
  readonly kinds?: Maybe<readonly KeyKind[]>;
}

const SIGNING_USES: readonly KeyUse[] = ["authentication", "assertion"];
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
/** Keys of one identity, with those that are out of use. */
export const MAX_OWN_KEYS = 64;

/** Makes an identity with new keys, in memory. */
export function createIdentity({ name, did, kinds, keyName, now = Date.now }: NewIdentity): LocalIdentity {
  checkName(name);
  const isKeyDid = did === "key";
  const [first, ...others] = kinds ?? (isKeyDid ? ["Ed25519" as const] : ["Ed25519" as const, "X25519" as const]);
  if (first === undefined || first === "X25519")
    throw invalid("the first key of an identity must be one that signs: Ed25519, P-256 or secp256k1", "kinds");
  if (isKeyDid && others.length > 0) throw invalid("a did:key has exactly one key", "kinds");
  if (new Set([first, ...others]).size <= others.length) throw invalid("an identity has one key of each kind", "kinds");
  let own = "";
  const created = now();
  const main = generateKey(first, (key) => {
    own = isKeyDid ? `did:key:${encodeMultikey(key)}` : typeof did === "string" ? did : did(key);
    checkedDid(own);
    const id = isKeyDid ? `${own}#${encodeMultikey(key)}` : `${own}#${keyName?.(key) ?? "key-1"}`;
    return { id, uses: usesOf(first), created, namesDid: typeof did === "function" ? true : undefined };
  });
  const more = others.map((kind, index) =>
    generateKey(kind, (key) => ({ id: `${own}#${keyName?.(key) ?? `key-${index + 2}`}`, uses: usesOf(kind), created })),
  );
  return new LocalIdentity({ name, did: own, keys: [main, ...more] }, now);
}

function usesOf(kind: KeyKind): readonly KeyUse[] {
  return kind === "X25519" ? ["agreement"] : SIGNING_USES;
}

export function checkName(name: string): void {
  if (!NAME.test(name))
    throw invalid(
      `invalid identity name ${JSON.stringify(name.slice(0, 100))}: use letters, digits, dots, dashes and underscores, at most 64`,
      "name",
    );
}

interface IdentityParts {
  readonly name: string;
  readonly did: string;
  readonly keys: readonly OwnKey[];
  /** Default: it replaced no DID. */
  readonly retired?: Maybe<readonly JsonObject[]>;
}

/** An identity whose keys are in this process. Immutable: rotation and revocation make a new one. */
export class LocalIdentity implements Identity {
  readonly name: string;
  readonly did: string;
  readonly #keys: readonly OwnKey[];
  readonly #retired: readonly JsonObject[];
  readonly #now: () => number;

  constructor(parts: IdentityParts, now: () => number) {
    this.name = parts.name;
    this.did = parts.did;
    this.#keys = parts.keys;
    this.#retired = parts.retired ?? [];
    this.#now = now;
  }

  keys(): readonly PublicKey[] {
    const now = this.#now();
    return this.#keys.filter((key) => key.hasPrivate && key.isValid(now)).sort(newestFirst);
  }

  /** The keys for its DID document: those in use, and those whose signatures are still valid. */
  published(): readonly PublicKey[] {
    const now = this.#now();
    return this.#keys.filter((key) => key.isValid(now)).sort(newestFirst);
  }

  retired(): readonly JsonObject[] {
    return this.#retired;
  }

  /** All keys that it ever had, in the order in which they were made. */
  history(): readonly OwnKey[] {
    return this.#keys;
  }

  sign(keyId: string, bytes: Uint8Array, hash?: Maybe<SignatureHash>): Uint8Array | Promise<Uint8Array> {
    return this.#usable(keyId).sign(bytes, hash);
  }

  agree(keyId: string, peer: Uint8Array): Uint8Array {
    return this.#usable(keyId).agree(peer);
  }

  /** A signature by any key, also one for agreement, that proves possession of its private half. secp256k1 signs Keccak-256. */
  prove(keyId: string, bytes: Uint8Array): Uint8Array | Promise<Uint8Array> {
    return this.#usable(keyId).prove(bytes);
  }

  /**
   * With a new key for each kind. Signing keys are dropped at once, their signatures stay valid for the overlap; keys for agreement are
   * kept that long, for messages that are under way.
   */
  rotated({ overlapMs, kinds }: Rotation): LocalIdentity {
    if (this.did.startsWith("did:key:"))
      throw invalid("the DID of a did:key identity is its key, so that it cannot be rotated; create a new identity", "did");
    const now = this.#now();
    const current = this.#keys.filter((key) => key.hasPrivate && key.rotated === undefined && key.isValid(now));
    const replaced = current.filter(({ kind }) => kinds === undefined || kinds.includes(kind));
    const missing = kinds?.find((kind) => !replaced.some((key) => key.kind === kind));
    if (missing !== undefined || replaced.length === 0)
      throw invalid(`${this.did} has no ${missing ?? "usable"} key to rotate`, "kinds");
    const named = replaced.find((key) => key.namesDid === true || this.did.includes(keyFingerprint(key)));
    if (named !== undefined)
      throw invalid(
        `${this.did} is the DID of its ${named.kind} key, so that this key cannot be rotated; rotate other kinds, or create a new identity`,
        "did",
      );
    const expires = now + overlapMs;
    const older = this.#keys.map((key) => {
      if (!replaced.includes(key)) return key;
      return key.with({ rotated: now, expires }, key.kind === "X25519" ? "keep" : "drop");
    });
    const added = replaced.map(({ kind, uses }, index) =>
      generateKey(kind, (): KeyFacts => ({ id: `${this.did}#key-${this.#keys.length + index + 1}`, uses, created: now })),
    );
    return this.#with([...older, ...added]);
  }

  /** Without one key: it is not published and cannot be used from now on. */
  revoked(keyId: string): LocalIdentity {
    const key = keyIn(this.#keys, keyId, this.did);
    const now = this.#now();
    return this.#with(this.#keys.map((each) => (each === key ? each.with({ revoked: each.revoked ?? now }, "drop") : each)));
  }

  #with(keys: readonly OwnKey[]): LocalIdentity {
    if (keys.length > MAX_OWN_KEYS)
      throw invalid(`an identity has at most ${MAX_OWN_KEYS} keys, with those out of use; create a new identity`, "keys");
    return new LocalIdentity({ name: this.name, did: this.did, keys, retired: this.#retired }, this.#now);
  }

  #usable(keyId: string): OwnKey {
    const key = this.#keys.find(({ id }) => id === keyId);
    if (key === undefined) throw new AgentError("not_found", `${this.did} has no key ${keyId.slice(0, 200)}`, { sent: "no" });
    if (key.revoked === undefined && !key.isValid(this.#now()))
      throw new AgentError("expired", `${key.id} has expired`, { sent: "no" });
    return key;
  }
}

/** The keys for the DID document of any identity. */
export function publishedKeysOf(identity: Identity): readonly PublicKey[] {
  return identity instanceof LocalIdentity ? identity.published() : identity.keys();
}

function newestFirst(a: OwnKey, b: OwnKey): number {
  return b.created - a.created;
}

function invalid(message: string, field: string): AgentError {
  return new AgentError("invalid_message", message, { field, sent: "no" });
}
