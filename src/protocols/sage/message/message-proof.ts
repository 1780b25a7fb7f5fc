import { AgentError, type Envelope, type Maybe, type Proof, type ReplayGuard } from "../../../envelope/index.js";
import { sha256 } from "../../../security/hashes.js";
import { didOfUrl, type Identity, type PeerKeySource } from "../../../security/identity/index.js";
import { type VerificationKey, verifyBase } from "../../../security/signatures/index.js";
import { readSigned, writeSigned } from "../codec.js";
import { SageError, sageError } from "../errors.js";
import { signerKey, signingKeyOf } from "../identity/signing-key.js";
import { CHALLENGE, EXTENSION_URI, TIMES } from "../wire.js";
import { readSecurity, type Security, securityOf } from "./security.js";
import { type SignedMessage, sameContent } from "./signed-message.js";

/** The scheme of proofs by this profile. */
export const SCHEME = EXTENSION_URI;

/** A side that signs messages. */
export interface Author {
  readonly identity: Identity;
  now(): number;
  newId(): string;
  /** The nonce that the recipient asked for. Default: a new one. */
  readonly nonce?: Maybe<string>;
}

/** What an answer is signed for. */
export interface Answered {
  readonly request: Proof;
  /** Its task, as the author of the answer calls it. */
  readonly task?: Maybe<string>;
}

/** The envelope with the signature of its author, for one recipient. One that is signed already stays as it is. */
export async function signMessage(
  envelope: Envelope,
  recipient: string,
  { identity, now, newId, nonce = newId() }: Author,
  answers?: Maybe<Answered>,
): Promise<Envelope> {
  if (proofIn(envelope) !== undefined) return envelope;
  const { id: kid } = signingKeyOf(identity);
  const created = Math.floor(now() / 1_000);
  const { id, role, intent, content } = envelope;
  const signed = writeSigned({
    ...{ id, role, intent, kid, recipient, created },
    did: identity.did,
    expires: created + TIMES.lifetimeMs / 1_000,
    nonce,
    parts: content,
    requestHash: answers && hashOf(answers.request),
    task: answers?.task,
  });
  const signature = await identity.sign(kid, signed);
  const proof: Proof = { scheme: SCHEME, signer: identity.did, keyId: kid, signed, signature };
  const metadata = { ...envelope.metadata, [EXTENSION_URI]: { security: securityOf(proof, created) } };
  return { ...envelope, metadata, proofs: [...(envelope.proofs ?? []), proof] };
}

/** The signature of this profile, as it is in a message that was verified; undefined if there is none. */
export function ownProof({ proofs }: Pick<Envelope, "proofs">): Maybe<Proof> {
  return proofs?.find(({ scheme }) => scheme === SCHEME);
}

/** The signature of this profile; undefined if the message has none. Throws if it has several, or says that it has one. */
export function proofIn({ proofs, metadata }: Pick<Envelope, "proofs" | "metadata">): Maybe<Proof> {
  const [proof, other] = proofs?.filter(({ scheme }) => scheme === SCHEME) ?? [];
  if (other !== undefined) throw new SageError("sig.malformed", "the message has several signatures of SAGE");
  const security = readSecurity(metadata);
  if (proof === undefined && security === undefined) return undefined;
  // Either without the other: somebody on the way removed it.
  if (proof === undefined) throw new SageError("sig.missing", "the message says that it is signed, and is not");
  if (security === undefined) throw new SageError("sig.missing", "the message is signed, and its member security is missing");
  checkSecurity(security, proof);
  return proof;
}

function checkSecurity({ did, keyId, signature }: Security, proof: Proof): void {
  const isSame = did === proof.signer && keyId === proof.keyId && Buffer.compare(signature, proof.signature) === 0;
  if (!isSame) throw new SageError("sig.binding", "the member security names another signature than the message has");
}

/** Asks the authors of messages to sign them again. */
export interface Challenger {
  /** Whether this process asked for the nonce. */
  isAsked(nonce: string): boolean;
  /** What the author of a message is told that was not accepted. */
  refusal(request: Proof): Promise<AgentError>;
}

export interface Verification extends PeerKeySource {
  /** The DID of this side: a message for somebody else is not accepted. */
  readonly recipient: string;
  /** Of an answer: what the request was signed with. */
  readonly request?: Maybe<Proof>;
  /** Accepts each message once. Absent: an answer, which is bound to its request. */
  readonly replay?: Maybe<ReplayGuard>;
  /** Asks authors to sign again, right after a start. Absent: their messages are refused. */
  readonly challenges?: Maybe<Challenger>;
}

const fresh = new WeakSet<Proof>();

/** For a message that is no older than this process: its author signed the request that brings it, or a nonce of this process. */
export function markAsFresh(proof: Proof): void {
  fresh.add(proof);
}

/** When a signature that was verified is accepted, and by which key it is. */
export function signedBy(
  proof: Proof,
  nowMs: number,
): { readonly keyId: string; readonly fromMs: number; readonly untilMs: number } {
  return { keyId: proof.keyId, ...acceptedFor(proof, readSigned(proof.signed), nowMs) };
}

function acceptedFor(proof: Proof, { created, expires }: SignedMessage, nowMs: number) {
  const fromMs = fresh.has(proof) ? nowMs : created * 1_000 - TIMES.skewMs;
  return { fromMs, untilMs: expires * 1_000 + TIMES.skewMs };
}

/** The message as its author signed it. Throws SageError. */
export async function verifyMessage(
  envelope: Envelope,
  proof: Proof,
  verification: Verification,
): Promise<{ readonly envelope: Envelope; readonly signed: SignedMessage }> {
  const signed = readSigned(proof.signed);
  await checkSigned(envelope, proof, signed, verification);
  if (signed.intent === CHALLENGE) throw new SageError("message.malformed", "a challenge is no message");
  if (!sameContent(signed.parts, envelope.content))
    throw new SageError("content.mismatch", "the message says something else than its author signed");
  await acceptOnce(signed, proof, verification);
  return { envelope: { ...envelope, content: signed.parts, metadata: withoutSecurity(envelope.metadata) }, signed };
}

/** Whether the signature is one of its author for this recipient and is valid now. It may have been used before. Throws SageError. */
export async function checkSigned(
  envelope: Pick<Envelope, "id" | "role" | "intent">,
  proof: Proof,
  signed: SignedMessage,
  verification: Verification,
): Promise<void> {
  checkBinding(envelope, proof, signed, verification);
  const { algorithm, key } = await signatureKey(proof.keyId, verification);
  if (!verifyBase(algorithm, key, proof.signed, proof.signature)) throw wrongSignature();
}

/** Everything that needs no key. Throws SageError. */
export function checkBinding(
  envelope: Pick<Envelope, "id" | "role" | "intent">,
  { signer, keyId }: Pick<Proof, "signer" | "keyId">,
  signed: SignedMessage,
  { recipient, request, now }: Pick<Verification, "recipient" | "request" | "now">,
): void {
  if (signed.did !== signer || signed.kid !== keyId || didOfUrl(keyId) !== signer)
    throw new SageError("sig.binding", `the key ${keyId.slice(0, 200)} is not one of ${signer.slice(0, 200)}`);
  if (signed.recipient !== recipient)
    throw new SageError("sig.binding", `the message is for ${signed.recipient.slice(0, 200)}, not for ${recipient}`);
  if (signed.id !== envelope.id || signed.role !== envelope.role || signed.intent !== envelope.intent)
    throw new SageError("content.mismatch", "the id, role or intent of the message is not what its author signed");
  if (request !== undefined && signed.requestHash !== hashOf(request))
    throw new SageError("sig.binding", "the answer is that to another request");
  checkTimes(signed, now());
}

function checkTimes({ created, expires }: SignedMessage, nowMs: number): void {
  const { lifetimeMs, skewMs } = TIMES;
  const [from, until] = [created * 1_000, expires * 1_000];
  if (until <= from || until - from > lifetimeMs || from - skewMs > nowMs || until + skewMs <= nowMs)
    throw new SageError("sig.stale", "the signature of the message is not valid now");
}

/** The key that a signature names. Throws SageError if its record has none. */
export async function signatureKey(keyId: string, source: PeerKeySource): Promise<VerificationKey> {
  const key = await signerKey(keyId, source).catch((thrown: unknown) => {
    throw sageError(thrown);
  });
  if (key === undefined)
    throw new SageError("key.not-in-record", `${keyId.slice(0, 200)} is no key that signs messages in its record`);
  return key;
}

export function wrongSignature(): SageError {
  return new SageError("sig.bad", "the signature of the message is wrong");
}

/** Uses up the nonce of a message that was checked. Throws SageError `sig.replay`. */
export async function acceptOnce(
  signed: SignedMessage,
  proof: Proof,
  { replay, now, challenges }: Pick<Verification, "replay" | "now" | "challenges">,
): Promise<void> {
  if (replay === undefined) return;
  const { did, nonce } = signed;
  if (challenges?.isAsked(nonce) === true) markAsFresh(proof);
  const { untilMs, fromMs } = acceptedFor(proof, signed, now());
  let isNew: boolean;
  try {
    isNew = await replay.add(did, `message ${nonce}`, untilMs, fromMs);
  } catch (thrown) {
    const error = AgentError.from(thrown);
    if (error.code !== "unavailable" || challenges === undefined || fresh.has(proof)) throw error;
    throw await challenges.refusal(proof);
  }
  if (!isNew) throw new SageError("sig.replay", "this message was received before");
}

/** The member has served its purpose: the proof itself stays in the message. */
export function withoutSecurity(metadata: Envelope["metadata"]): Envelope["metadata"] {
  const { [EXTENSION_URI]: _, ...others } = metadata ?? {};
  return Object.keys(others).length === 0 ? undefined : others;
}

/** What an answer says about the request that it is for. */
export function hashOf({ signed }: Proof): string {
  return Buffer.from(sha256(signed)).toString("base64url");
}
