import {
  AgentError,
  type AgentEvent,
  type Call,
  type Envelope,
  isProtected,
  type Maybe,
  type Operation,
  type Proof,
} from "../../../envelope/index.js";
import type { Identity } from "../../../security/identity/index.js";
import type { ClientContext } from "../../protocol.js";
import { SageError, sageError } from "../errors.js";
import type { OwnMessage } from "../session/opened-events.js";
import type { EventSealer } from "../session/sealed-events.js";
import { askedNonce } from "./message-challenge.js";
import { proofIn, signMessage, verifyMessage } from "./message-proof.js";
import { withSealedBy } from "./security.js";
import { signedAnswer } from "./signed-answer.js";

/** An answer, and what the peer calls its task, if it says so. */
export interface VerifiedAnswer {
  readonly event: AgentEvent;
  readonly task: Maybe<string>;
}

/** Signs or seals what is sent to one agent, and verifies its answers. */
export class SignedMessages {
  readonly #context: ClientContext;
  readonly #identity: Identity;
  readonly #peerDid: string;

  constructor(context: ClientContext, identity: Identity, peerDid: string) {
    this.#context = context;
    this.#identity = identity;
    this.#peerDid = peerDid;
  }

  /** `nonce`: what the agent asked for. */
  async signed(
    operation: Operation,
    nonce: Maybe<string>,
  ): Promise<{ readonly signed: Operation; readonly proof: Maybe<Proof> }> {
    // What somebody else protected is passed on: its author verifies the answer.
    if (operation.kind !== "send" || isProtected(operation.envelope)) return { signed: operation, proof: undefined };
    const { now, newId } = this.#context;
    const envelope = await signMessage(operation.envelope, this.#peerDid, { identity: this.#identity, now, newId, nonce });
    const proof = proofIn(envelope);
    if (proof === undefined) throw new AgentError("internal", "the message was signed, and has no signature");
    return { signed: { ...operation, envelope }, proof };
  }

  /** A record of a session proves its author, so that it needs no signature. */
  sealed(operation: Operation, sealer: EventSealer): { readonly sealed: Operation; readonly own: Maybe<OwnMessage> } {
    if (operation.kind !== "send") return { sealed: operation, own: undefined };
    const by = { did: this.#identity.did, recipient: this.#peerDid };
    const envelope = { ...sealer.message(operation.envelope), metadata: withSealedBy(by) };
    return { sealed: { ...operation, envelope }, own: { plain: operation.envelope, sealed: envelope } };
  }

  /** The nonce with which the agent asks to sign a request again. Undefined: it does not. */
  askedNonce(refusal: AgentError, request: Proof, { cancel }: Call): Promise<Maybe<string>> {
    const { resolver, now } = this.#context;
    return askedNonce(refusal, request, this.#peerDid, { resolver, now, cancel, recipient: this.#identity.did });
  }

  /** The messages in the answer to a message are signed for it. Other answers are signed as responses only. */
  async verified(event: AgentEvent, request: Maybe<Proof>, call: Call): Promise<VerifiedAnswer> {
    if (request === undefined) return { event, task: undefined };
    let task: Maybe<string>;
    const checked = await signedAnswer(event, async (message) => {
      const { envelope, signed } = await this.#checked(message, request, call);
      task = signed.task;
      return envelope;
    });
    return { event: checked, task };
  }

  async #checked(message: Envelope, request: Proof, { cancel }: Call): ReturnType<typeof verifyMessage> {
    const { resolver, now } = this.#context;
    try {
      const proof = proofIn(message);
      if (proof === undefined) throw new SageError("sig.missing", "the message of the agent is not signed");
      if (proof.signer !== this.#peerDid)
        throw new SageError("sig.binding", `the message is signed by ${proof.signer.slice(0, 200)}, not by ${this.#peerDid}`);
      const recipient = this.#identity.did;
      return await verifyMessage(message, proof, { resolver, now, cancel, recipient, request });
    } catch (thrown) {
      throw sageError(thrown);
    }
  }
}
