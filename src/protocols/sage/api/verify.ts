import {
  AgentError,
  CancelSource,
  type IdSource,
  type Maybe,
  type Proof,
  type ReplayGuard,
  systemIds,
} from "../../../envelope/index.js";
import type { Identity, Resolver } from "../../../security/identity/index.js";
import { type Ed25519Signature, type VerificationKey, verifyBase, verifyMany } from "../../../security/signatures/index.js";
import { DecodeProblem } from "../../../transport/fields.js";
import { readSignatureText, writeSigned } from "../codec.js";
import { SageError, sageError } from "../errors.js";
import { signingKeyOf } from "../identity/signing-key.js";
import { acceptOnce, checkBinding, SCHEME, signatureKey, type Verification, wrongSignature } from "../message/message-proof.js";
import { writeSignatureText } from "../message/seed-codec.js";
import type { SignedMessage } from "../message/signed-message.js";
import { TIMES } from "../wire.js";
import { checkedMode, type Message } from "./message.js";

/** The messages of one batch. */
const MAX_BATCH = 10_000;
/** Keys of a batch that are looked up at the same time. */
const LOOKUPS_AT_ONCE = 16;
/** From this size on, threads verify signatures, too, and a batch takes about as much less time as there are cores. Smaller ones gain less. */
const THREADS_FROM = 256;

/** What a verifier needs. */
export interface VerifierOptions {
  /** The DID of this side: messages for others are refused. */
  readonly did: string;
  readonly resolver: Resolver;
  /** Accepts each message once. */
  readonly replay: ReplayGuard;
  /** Milliseconds since the epoch. Default: the system clock. */
  readonly now?: Maybe<() => number>;
  /** The size of a batch from which signatures are verified in several threads. Default: 256. */
  readonly threadsFrom?: Maybe<number>;
}

/** The result for one message of a batch. */
export type BatchResult = { readonly ok: true; readonly did: string } | { readonly ok: false; readonly error: AgentError };

/** A message that was read, and the signature that it must have. */
interface SignedParts {
  readonly signed: SignedMessage;
  readonly keyId: string;
  readonly signature: Uint8Array;
}

/** The message with the signature of its author, for one recipient. */
export async function signMessage(
  message: Message,
  recipientDid: string,
  identity: Identity,
  { now, newId }: IdSource = systemIds,
): Promise<Message> {
  const { id: keyId } = signingKeyOf(identity);
  const created = Math.floor(now() / 1_000);
  const expires = created + TIMES.lifetimeMs / 1_000;
  const nonce = newId();
  const { did } = identity;
  const signed = writeSigned(signedMessage(message, { did, keyId, recipientDid, created, expires, nonce }));
  const signature = Buffer.from(await identity.sign(keyId, signed)).toString("base64");
  const text = writeSignatureText({ keyId, algorithm: "ed25519", created, signature, expires, nonce });
  return { ...message, recipientDid, security: { mode: "sage", signature: text, keyId, did } };
}

/** Verifies messages that are signed for one DID, however they arrived. */
export class MessageVerifier {
  readonly #options: VerifierOptions;
  readonly #now: () => number;

  constructor(options: VerifierOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** Returns the DID of the author. Throws ErrInvalidSignature, ErrDIDNotResolved, ErrReplayAttack or ErrInvalidMessage. */
  async verifyMessage(message: Message): Promise<string> {
    const verification = this.#verification();
    const parts = this.#read(message, verification);
    const { algorithm, key } = await signatureKey(parts.keyId, verification);
    const proof = proofOf(parts);
    if (!verifyBase(algorithm, key, proof.signed, proof.signature)) throw wrongSignature();
    await acceptOnce(parts.signed, proof, verification);
    return parts.signed.did;
  }

  /**
   * One result for each message, in their order. Each key is looked up once. Of two messages with the same nonce only the first is
   * accepted.
   */
  async verifyBatch(messages: readonly Message[]): Promise<readonly BatchResult[]> {
    if (messages.length > MAX_BATCH)
      throw new AgentError("too_large", `a batch has at most ${MAX_BATCH} messages`, { field: "messages", sent: "no" });
    const verification = this.#verification();
    const read = readOnce(messages, (message) => this.#read(message, verification));
    const keys = await keysOf(messages, read, verification);
    const checked: (CheckedMessage | AgentError)[] = [];
    const withThreads = messages.length >= (this.#options.threadsFrom ?? THREADS_FROM);
    const valid = await verifyMany(signaturesOf(messages, read, keys, checked), withThreads);
    const results: BatchResult[] = [];
    let next = 0;
    // One after the other: the first of two equal nonces is the one that counts.
    for (const each of checked) {
      const judged = each instanceof AgentError || valid[next++] === true ? each : wrongSignature();
      results.push(await accepted(judged, verification));
    }
    return results;
  }

  #verification(): Verification {
    const { did: recipient, resolver, replay } = this.#options;
    return { recipient, resolver, replay, now: this.#now, cancel: new CancelSource() };
  }

  /** What the author must have signed for this side. If the message was changed, the signature is not one of it. */
  #read(message: Message, verification: Verification): SignedParts {
    const { security, recipientDid, messageId: id, role } = message;
    if (security === undefined) throw new SageError("sig.missing", "the message has no member security");
    if (security.mode !== "sage" || security.signature === undefined)
      throw new SageError("sig.missing", `the message is not signed (its mode is ${modeOf(security.mode)})`);
    const { did = "", keyId = "" } = security;
    if (recipientDid !== undefined && recipientDid !== this.#options.did)
      throw new SageError("sig.binding", `the message is for ${recipientDid.slice(0, 200)}, not for ${this.#options.did}`);
    const { created, expires, nonce, signature } = this.#signatureIn(security.signature, keyId);
    const signed = signedMessage(message, { did, keyId, recipientDid: this.#options.did, created, expires, nonce });
    checkBinding({ id, role, intent: "" }, { signer: did, keyId }, signed, verification);
    return { signed, keyId, signature };
  }

  #signatureIn(text: string, keyId: string) {
    try {
      const { keyId: named, algorithm, created, expires, nonce, signature } = readSignatureText(text);
      if (algorithm !== "ed25519") throw new SageError("sig.alg-mismatch", "messages are signed by ed25519 only");
      if (named !== keyId) throw new SageError("sig.binding", "the signature names another key than the message");
      if (nonce === undefined || nonce === "" || expires === undefined)
        throw new SageError("sig.malformed", "the signature has no nonce or no end");
      return { created, expires, nonce, signature: Buffer.from(signature, "base64") };
    } catch (thrown) {
      if (!(thrown instanceof DecodeProblem)) throw thrown;
      throw new SageError("sig.malformed", `the signature cannot be read: ${thrown.message}`, { cause: thrown });
    }
  }
}

/** A message whose signature was verified, or is being so. */
interface CheckedMessage {
  readonly signed: SignedMessage;
  readonly proof: Proof;
}

function proofOf({ signed, keyId, signature }: SignedParts): Proof {
  return { scheme: SCHEME, signer: signed.did, keyId, signed: writeSigned(signed), signature };
}

function attempt<T>(run: () => T): T | AgentError {
  try {
    return run();
  } catch (thrown) {
    return sageError(thrown);
  }
}

type ReadOnce = (index: number) => SignedParts | AgentError;
type Keys = ReadonlyMap<string, VerificationKey | AgentError>;

/** Messages are read when they are needed, mostly while others are verified already. */
function readOnce(messages: readonly Message[], read: (message: Message) => SignedParts): ReadOnce {
  const done: (SignedParts | AgentError)[] = [];
  return (index) => {
    const parts = done[index] ?? attempt(() => read(messages[index] as Message)); // within the batch
    done[index] = parts;
    return parts;
  };
}

/** Every key that a message of the batch names which is for this side and valid now. Each is looked up once. */
async function keysOf(messages: readonly Message[], read: ReadOnce, verification: Verification): Promise<Keys> {
  const named = new Set<string>();
  for (const [index, { security }] of messages.entries()) {
    if (security?.keyId === undefined || named.has(security.keyId)) continue;
    const parts = read(index);
    if (!(parts instanceof AgentError)) named.add(parts.keyId);
  }
  const keys = new Map<string, VerificationKey | AgentError>();
  const left = named.values();
  const lookUp = async (): Promise<void> => {
    for (const keyId of left) keys.set(keyId, await signatureKey(keyId, verification).catch(sageError));
  };
  await Promise.all(Array.from({ length: Math.min(LOOKUPS_AT_ONCE, named.size) }, lookUp));
  return keys;
}

/** The signatures of those that have a key, made while others are verified already; in `checked` one entry for each message. */
function* signaturesOf(
  messages: readonly Message[],
  read: ReadOnce,
  keys: Keys,
  checked: (CheckedMessage | AgentError)[],
): Generator<Ed25519Signature> {
  for (const index of messages.keys()) {
    const signature = attempt(() => {
      const parts = found(read(index));
      const { key } = found(keys.get(parts.keyId) ?? wrongSignature());
      const proof = proofOf(parts);
      checked[index] = { signed: parts.signed, proof };
      return { key, base: proof.signed, signature: proof.signature };
    });
    if (signature instanceof AgentError) checked[index] = signature;
    else yield signature;
  }
}

function found<T>(value: T | AgentError): T {
  if (value instanceof AgentError) throw value;
  return value;
}

async function accepted(checked: CheckedMessage | AgentError, verification: Verification): Promise<BatchResult> {
  if (checked instanceof AgentError) return { ok: false, error: checked };
  try {
    await acceptOnce(checked.signed, checked.proof, verification);
    return { ok: true, did: checked.signed.did };
  } catch (thrown) {
    return { ok: false, error: sageError(thrown) };
  }
}

interface SignedBy {
  readonly did: string;
  readonly keyId: string;
  readonly recipientDid: string;
  readonly created: number;
  readonly expires: number;
  readonly nonce: string;
}

function signedMessage({ messageId: id, role, parts }: Message, by: SignedBy): SignedMessage {
  const { did, keyId: kid, recipientDid: recipient, created, expires, nonce } = by;
  return { id, did, kid, recipient, created, expires, nonce, role, intent: "", parts, requestHash: undefined };
}

function modeOf(mode: string): string {
  try {
    return checkedMode(mode);
  } catch {
    return "unknown";
  }
}
