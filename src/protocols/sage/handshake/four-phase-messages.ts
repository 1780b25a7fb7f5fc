import type { JsonObject } from "../../../envelope/index.js";
import { sha256 } from "../../../security/hashes.js";
import type { PublicKey } from "../../../security/identity/index.js";
import { canonicalJson } from "../../../security/json-canonical.js";
import { sessionSecret } from "../../../security/sealed-records/index.js";
import { HandshakeError } from "./handshake-error.js";
import { Acknowledgement, type Schedule, SUITE } from "./hpke-schedule.js";
import { base64urlOf, did, encode, exactly, type Shaped, seconds, suiteList, text, uuid4 } from "./message-shape.js";
import { checkSignature, HANDSHAKE_LIMITS, type HandshakeSide, newNonce, signatureOf } from "./side.js";

/** The messages of the four-phase handshake and its key schedule. The form is ours (`docs/sage.md`). */

/** The suites that this version has, best first. The list is signed with the invitation. */
export const SUITES = [SUITE] as const;
export const LABELS = {
  responseInfo: "ute-sage-hs4-info2|1\n",
  requestInfo: "ute-sage-hs4-info3|1\n",
  export: "ute-sage-hs4-exp|1",
  seed: "ute-sage-hs4-seed|1",
  ack: "ute-sage-hs4-ack|1",
} as const;
const HASH = base64urlOf(32);
const SHARE = base64urlOf(32);
/** A share of 32 bytes and the tag. */
const SEALED_SHARE = base64urlOf(48);

const head = <P extends string>(phase: P) =>
  ({
    v: exactly("1"),
    phase: exactly(phase),
    ctx: uuid4,
    initDid: did,
    respDid: did,
    created: seconds,
    expires: seconds,
    nonce: base64urlOf(16),
    sig: base64urlOf(64),
  }) as const;

export const INVITATION = { ...head("invitation"), initKid: text, initKemKid: text, suites: suiteList } as const;
export const RESPONSE = {
  ...head("response"),
  respKid: text,
  respKemKid: text,
  suite: text,
  h1: HASH,
  encB: SHARE,
  ctB: SEALED_SHARE,
} as const;
export const REQUEST = { ...head("request"), h2: HASH, encA: SHARE, ctA: SEALED_SHARE } as const;
export const COMPLETE = { ...head("complete"), kid: uuid4, th: HASH, ackTag: base64urlOf(32), expiresAt: seconds } as const;

export type Invitation = Shaped<typeof INVITATION>;
export type Response = Shaped<typeof RESPONSE>;
export type Request = Shaped<typeof REQUEST>;
export type Complete = Shaped<typeof COMPLETE>;
type Phase = "invitation" | "response" | "request" | "complete";
type Message = Invitation | Response | Request | Complete;

/** The members of a message that do not depend on its phase. */
export interface Ends {
  readonly ctx: string;
  readonly initDid: string;
  readonly respDid: string;
}

/** Completes and signs a message. */
export async function signMessage<P extends Phase, B extends JsonObject>(
  phase: P,
  { ctx, initDid, respDid }: Ends,
  body: B,
  { side, keyId }: { readonly side: HandshakeSide; readonly keyId: string },
) {
  const created = Math.floor(side.now() / 1_000);
  const expires = created + HANDSHAKE_LIMITS.lifetimeMs / 1_000;
  const message = { v: "1", phase, ctx, initDid, respDid, created, expires, nonce: newNonce(side), ...body } as const;
  return { ...message, sig: await signatureOf(message, labelOf(phase), keyId, side) } as const;
}

/** Throws `sig.bad`. */
export function checkMessage(message: Message, key: PublicKey): void {
  const { sig, ...signed } = message;
  checkSignature(signed, labelOf(message.phase), key, sig);
}

function labelOf(phase: Phase): string {
  return `ute-sage-hs4-${phase}|1`;
}

/** When a message is accepted. Throws `handshake.time` unless it is now. */
export function checkTime({ created, expires }: Message, now: number): { readonly fromMs: number; readonly untilMs: number } {
  const { lifetimeMs, skewMs } = HANDSHAKE_LIMITS;
  const fromMs = created * 1_000 - skewMs;
  const untilMs = expires * 1_000 + skewMs;
  const isShort = expires > created && (expires - created) * 1_000 <= lifetimeMs;
  if (!isShort || now < fromMs || now >= untilMs) throw new HandshakeError("handshake.time");
  return { fromMs, untilMs };
}

/** The hash of a whole signed message. */
export function hashOf(message: Message): Uint8Array {
  return sha256(canonicalJson(message));
}

export function infoOf(label: string, hash: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(label), hash]);
}

/** The three messages before the last, and the id of the session. */
export interface Messages {
  readonly invitation: Invitation;
  readonly response: Response;
  readonly request: Request;
}

/** What both sides computed before: the agreement of the shares, and the exports of the two HPKE contexts in the order of the messages. */
export function fourPhaseSchedule(messages: Messages, kid: string, secrets: readonly Uint8Array[]): Schedule {
  const { invitation, response, request } = messages;
  const th = sha256(canonicalJson([invitation, response, request, kid]));
  const seed = sessionSecret(Buffer.concat(secrets), th, LABELS.seed);
  return { th, seed, ack: new Acknowledgement(seed, th, LABELS.ack) };
}

export const EXPORT_CONTEXT: Uint8Array = Buffer.from(LABELS.export);

/** The members of the last message. */
export function completeBody({ th, ack }: Schedule, kid: string, expiresAtMs: number) {
  return { kid, th: encode(th), ackTag: encode(ack.tag()), expiresAt: Math.floor(expiresAtMs / 1_000) } as const;
}
