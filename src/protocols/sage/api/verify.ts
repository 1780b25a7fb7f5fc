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
import { verifyInPool } from "../../../security/signatures/index.js";
import { DecodeProblem } from "../../../transport/fields.js";
import { readSignatureText, writeSigned } from "../codec.js";
import { SageError, sageError } from "../errors.js";
import { signerKey, signingKeyOf } from "../identity/signing-key.js";
import { acceptOnce, checkSigned, SCHEME, type Verification } from "../message/message-proof.js";
import { writeSignatureText } from "../message/seed-codec.js";
import type { SignedMessage } from "../message/signed-message.js";
import { TIMES } from "../wire.js";
import { checkedMode, type Message } from "./message.js";

/** The messages of one batch. */
const MAX_BATCH = 10_000;
/** Messages of a batch that are checked at the same time. */
const AT_ONCE = 16;
/**
 * From this size on, signatures are verified in the threads of Node's pool: the thread of the caller has then 0.28 of the work. In batches of
 * 8 and fewer the hand-over costs a tenth of the CPU time, from 16 on nothing that can be measured.
 */
const POOL_FROM = 16;

/** What a verifier needs. */
export interface VerifierOptions {
  /** The DID of this side: messages for others are refused. */
  readonly did: string;
  readonly resolver: Resolver;
  /** Accepts each message once. */
  readonly replay: ReplayGuard;
  /** Milliseconds since the epoch. Default: the system clock. */
  readonly now?: Maybe<() => number>;
  /** The size of a batch from which signatures are verified in several threads. Default: 16. */
  readonly threadsFrom?: Maybe<number>;
}

/** The result for one message of a batch. */
export type BatchResult = { readonly ok: true; readonly did: string } | { readonly ok: false; readonly error: AgentError };

/** A message that was read, with the bytes that its author signed. */
interface SignedParts {
  readonly message: Message;
  readonly signed: SignedMessage;
  readonly proof: Proof;
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
    const parts = this.#read(message);
    await this.#check(parts, this.#verification());
    return this.#accept(parts);
  }

  /**
   * One result for each message, in their order. Each key is looked up once. Of two messages with the same nonce only the first is
   * accepted.
   */
  async verifyBatch(messages: readonly Message[]): Promise<readonly BatchResult[]> {
    if (messages.length > MAX_BATCH)
      throw new AgentError("too_large", `a batch has at most ${MAX_BATCH} messages`, { field: "messages", sent: "no" });
    const checked: (SignedParts | AgentError)[] = [];
    const verification = {
      ...this.#verification(),
      keyOf: keysOnce(),
      ...(messages.length < (this.#options.threadsFrom ?? POOL_FROM) ? undefined : { verify: verifyInPool }),
    };
    let next = 0;
    const work = async (): Promise<void> => {
      for (let index = next++; index < messages.length; index = next++)
        checked[index] = await this.#checked(messages[index] as Message, verification); // within the length
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, messages.length) }, work));
    const results: BatchResult[] = [];
    // One after the other: the first of two equal nonces is the one that counts.
    for (const each of checked) results.push(await this.#result(each));
    return results;
  }

  async #checked(message: Message, verification: Verification): Promise<SignedParts | AgentError> {
    try {
      const parts = this.#read(message);
      await this.#check(parts, verification);
      return parts;
    } catch (thrown) {
      return sageError(thrown);
    }
  }

  async #result(checked: SignedParts | AgentError): Promise<BatchResult> {
    if (checked instanceof AgentError) return { ok: false, error: checked };
    try {
      return { ok: true, did: await this.#accept(checked) };
    } catch (thrown) {
      return { ok: false, error: sageError(thrown) };
    }
  }

  #verification(): Verification {
    const { did: recipient, resolver, replay } = this.#options;
    return { recipient, resolver, replay, now: this.#now, cancel: new CancelSource() };
  }

  /** What the author must have signed for this side. If the message was changed, the signature is not one of it. */
  #read(message: Message): SignedParts {
    const { security, recipientDid } = message;
    if (security === undefined) throw new SageError("sig.missing", "the message has no member security");
    if (security.mode !== "sage" || security.signature === undefined)
      throw new SageError("sig.missing", `the message is not signed (its mode is ${modeOf(security.mode)})`);
    const { did = "", keyId = "" } = security;
    if (recipientDid !== undefined && recipientDid !== this.#options.did)
      throw new SageError("sig.binding", `the message is for ${recipientDid.slice(0, 200)}, not for ${this.#options.did}`);
    const { created, expires, nonce, signature } = this.#signatureIn(security.signature, keyId);
    const signed = signedMessage(message, { did, keyId, recipientDid: this.#options.did, created, expires, nonce });
    const proof = { scheme: SCHEME, signer: did, keyId, signed: writeSigned(signed), signature };
    return { message, signed, proof };
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

  #check({ message, signed, proof }: SignedParts, verification: Verification): Promise<void> {
    const { messageId: id, role } = message;
    return checkSigned({ id, role, intent: "" }, proof, signed, verification);
  }

  async #accept({ signed, proof }: SignedParts): Promise<string> {
    await acceptOnce(signed, proof, this.#verification());
    return signed.did;
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

/** Each key is looked up once for a batch. */
function keysOnce(): typeof signerKey {
  const keys = new Map<string, ReturnType<typeof signerKey>>();
  return (keyId, source) => {
    const known = keys.get(keyId) ?? signerKey(keyId, source);
    keys.set(keyId, known);
    return known;
  };
}

function modeOf(mode: string): string {
  try {
    return checkedMode(mode);
  } catch {
    return "unknown";
  }
}
