import { type Awaitable, isObject, type JsonObject, type Maybe, type ReplayGuard } from "../../../envelope/index.js";
import { type EphemeralKey, ephemeralKey } from "../../../security/agreement/index.js";
import { type HpkeRecipient, type HpkeSender, hpkeRecipient, hpkeSender } from "../../../security/hpke/index.js";
import { type Identity, type KeyUse, type PublicKey, verifySignature } from "../../../security/identity/index.js";
import { canonicalJson } from "../../../security/json-canonical.js";
import { HandshakeError } from "./handshake-error.js";
import { decode, encode } from "./message-shape.js";

/** What a handshake needs of its side. */
export interface HandshakeSide {
  readonly identity: Identity;
  /** The keys that a DID may use now, the preferred one of each kind first, from its record. Throws if they cannot be had. */
  keysOf(did: string): Awaitable<readonly PublicKey[]>;
  readonly replay: ReplayGuard;
  /** Milliseconds since the epoch. */
  now(): number;
  /** A UUID of version 4. */
  newId(): string;
  /** For test vectors: 16 bytes of a nonce, or the private half of a key. Default: random. */
  readonly fixed?: Maybe<(what: "nonce" | "share" | "hpke") => Uint8Array>;
}

export const HANDSHAKE_LIMITS = {
  /** From the first message to the session, and to the first message in it. */
  hpkePendingMs: 300_000,
  fourPhasePendingMs: 60_000,
  /** How long a message of the four-phase form is valid, and how much clocks may differ. */
  lifetimeMs: 60_000,
  skewMs: 30_000,
  /** Handshakes of the four-phase form that wait for their third message. */
  pending: 1_000,
  pendingPerPeer: 8,
} as const;

const NONCE_BYTES = 16;
/** Apart from the nonces of signatures. */
const REPLAY_PREFIX = "sage-handshake ";

/** The two kinds of keys in a handshake. */
export const SIGNING = { kind: "Ed25519", use: "authentication" } as const;
export const AGREEING = { kind: "X25519", use: "agreement" } as const;
export type KeyRole = typeof SIGNING | typeof AGREEING;

/** The named key, or the first one for this role. Throws `key.not-in-record`. */
export function keyFor(keys: readonly PublicKey[], { kind, use }: KeyRole, now: number, id?: Maybe<string>): PublicKey {
  const wanted: KeyUse = use;
  for (const key of keys) {
    const isUsable = key.kind === kind && key.uses.includes(wanted) && (key.expires === undefined || now < key.expires);
    if (isUsable && (id === undefined || key.id === id)) return key;
  }
  throw new HandshakeError("key.not-in-record", id?.slice(0, 300) ?? `no ${kind} key`);
}

export function newNonce({ fixed }: HandshakeSide): string {
  return encode(fixed?.("nonce") ?? crypto.getRandomValues(new Uint8Array(NONCE_BYTES)));
}

export function newShare({ fixed }: HandshakeSide): EphemeralKey {
  return ephemeralKey(fixed?.("share"));
}

export function sealTo(key: PublicKey, info: Uint8Array, { fixed }: HandshakeSide): HpkeSender {
  return withShareReason(() => hpkeSender(key.bytes, info, fixed && ephemeralKey(fixed("hpke"))));
}

export async function openFrom(enc: string, key: PublicKey, info: Uint8Array, side: HandshakeSide): Promise<HpkeRecipient> {
  const { id, bytes: publicBytes } = key;
  try {
    return await hpkeRecipient(decode(enc), { publicBytes, agree: (peer) => side.identity.agree(id, peer) }, info);
  } catch (thrown) {
    throw new HandshakeError("handshake.share", "enc", thrown);
  }
}

export function agreed(own: EphemeralKey, peer: Uint8Array): Uint8Array {
  return withShareReason(() => own.agree(peer));
}

/** Agreement throws for nothing but a bad key. */
function withShareReason<T>(run: () => T): T {
  try {
    return run();
  } catch (thrown) {
    throw new HandshakeError("handshake.share", undefined, thrown);
  }
}

/** The signature over a label and the canonical JSON of a message. */
export async function signatureOf(
  message: JsonObject,
  label: string,
  keyId: string,
  { identity }: HandshakeSide,
): Promise<string> {
  return encode(await identity.sign(keyId, signedBytes(message, label)));
}

/** Throws `sig.bad`. `signature`: base64url. */
export function checkSignature(message: JsonObject, label: string, key: PublicKey, signature: string): void {
  if (!verifySignature(key, SIGNING.use, signedBytes(message, label), decode(signature)))
    throw new HandshakeError("sig.bad", key.id);
}

function signedBytes(message: JsonObject, label: string): Uint8Array {
  return Buffer.from(`${label}\n${canonicalJson(message)}`);
}

/** Accepts a message once. */
export async function acceptOnce(
  { replay }: HandshakeSide,
  {
    did,
    nonce,
    untilMs,
    fromMs,
  }: { readonly did: string; readonly nonce: string; readonly untilMs: number; readonly fromMs: number },
): Promise<void> {
  if (!(await replay.add(did, REPLAY_PREFIX + nonce, untilMs, fromMs))) throw new HandshakeError("handshake.replay");
}

export function isReplayed({ replay }: HandshakeSide, did: string, nonce: string): boolean {
  return replay.seen(did, REPLAY_PREFIX + nonce);
}

/** The member that tells the messages apart, before anything is read. */
export function wordIn(message: unknown, name: "task" | "phase"): Maybe<string> {
  const word = isObject(message) && Object.hasOwn(message, name) ? message[name] : undefined;
  return typeof word === "string" ? word : undefined;
}
