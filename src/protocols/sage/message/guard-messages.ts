import {
  AgentError,
  type AgentEvent,
  type Call,
  type Envelope,
  type Handler,
  isPromise,
  type Maybe,
  type OperationOf,
  type Proof,
} from "../../../envelope/index.js";
import type { Identity } from "../../../security/identity/index.js";
import type { Host } from "../../protocol.js";
import { readSigned, sealedIn } from "../codec.js";
import { SageError } from "../errors.js";
import { sageIdentity } from "../identity/signing-key.js";
import { type AcceptedSessions, acceptedSessions } from "../session/accepted-sessions.js";
import type { SageSession } from "../session/index.js";
import { checkPeerKeys } from "../session/keys-of.js";
import { EventOpener, EventSealer } from "../session/sealed-events.js";
import { EXTENSION_URI, HANDSHAKE } from "../wire.js";
import { handshakeIn, handshakeMessage } from "./handshake-message.js";
import { ownProof, proofIn, signedBy, signMessage, verifyMessage } from "./message-proof.js";
import { readSealedBy } from "./security.js";
import { signedAnswer } from "./signed-answer.js";

/**
 * Verifies and opens messages that are signed or sealed for this host, by whichever protocol and through whichever gateway they came, and
 * protects the answers likewise. What is for others is passed on as it is: they verify it, and a gateway never signs for an agent.
 */
export function guardMessages(host: Host): Handler {
  const identity = sageIdentity(host);
  if (identity === undefined) return host.handler;
  const messages = new GuardedMessages(host, identity);
  return (operation, call) => {
    if (operation.kind !== "send" || !isMarked(operation.envelope)) return host.handler(operation, call);
    return operation.delivery === "stream" ? messages.stream(operation, call) : messages.answer(operation, call);
  };
}

/** Whether a message has a signature of SAGE, or says that it has one. */
function isMarked(envelope: Envelope): boolean {
  return ownProof(envelope) !== undefined || envelope.metadata?.[EXTENSION_URI] !== undefined;
}

/** A message as the agent gets it, and how its answer is protected. */
type Received =
  | { readonly kind: "signed"; readonly operation: OperationOf<"send">; readonly proof: Proof }
  | { readonly kind: "sealed"; readonly operation: OperationOf<"send">; readonly session: SageSession }
  | { readonly kind: "handshake"; readonly message: unknown; readonly envelope: Envelope; readonly proof: Proof }
  /** For somebody else. */
  | { readonly kind: "foreign"; readonly operation: OperationOf<"send"> };

class GuardedMessages {
  readonly #host: Host;
  readonly #identity: Identity;
  readonly #sessions: AcceptedSessions;

  constructor(host: Host, identity: Identity) {
    this.#host = host;
    this.#identity = identity;
    this.#sessions = acceptedSessions(identity, host);
  }

  async answer(operation: OperationOf<"send">, call: Call): Promise<AgentEvent> {
    const received = await this.#received(operation, call);
    if (received.kind === "handshake") return this.#handshake(received, call);
    const reply = this.#host.handler(received.operation, call);
    const protect = this.#protection(received, false);
    if (isPromise(reply)) return protect(await reply);
    let last: Maybe<AgentEvent>;
    for await (const event of reply) last = event;
    if (last === undefined) throw new AgentError("internal", "the agent answered with nothing");
    return protect(last);
  }

  async *stream(operation: OperationOf<"send">, call: Call): AsyncGenerator<AgentEvent, void, void> {
    const received = await this.#received(operation, call);
    if (received.kind === "handshake") {
      yield this.#handshake(received, call);
      return;
    }
    const reply = this.#host.handler(received.operation, call);
    const protect = this.#protection(received, true);
    if (isPromise(reply)) yield protect(await reply);
    else for await (const event of reply) yield protect(event);
  }

  async #received(operation: OperationOf<"send">, call: Call): Promise<Received> {
    const { envelope } = operation;
    const sealed = sealedIn(envelope.content);
    return sealed === undefined ? this.#verified(operation, call) : this.#opened(operation, sealed.kid, call);
  }

  async #opened(operation: OperationOf<"send">, kid: string, { cancel }: Call): Promise<Received> {
    const { envelope } = operation;
    const { did, recipient } = readSealedBy(envelope.metadata);
    if (recipient !== this.#identity.did) return { kind: "foreign", operation };
    const session = this.#sessions.table.find({ ownDid: recipient, peerDid: did }, kid);
    await checkPeerKeys(session, this.#host.resolver, cancel);
    const opened = new EventOpener(session).message(envelope);
    return { kind: "sealed", operation: { ...operation, envelope: opened }, session };
  }

  async #verified(operation: OperationOf<"send">, { cancel }: Call): Promise<Received> {
    const { resolver, replay } = this.#host;
    const recipient = this.#identity.did;
    const proof = proofIn(operation.envelope);
    if (proof === undefined) throw new SageError("sig.missing", "the message is marked as one of SAGE, and is not signed");
    if (readSigned(proof.signed).recipient !== recipient) return { kind: "foreign", operation };
    const now = (): number => this.#host.now();
    const { envelope } = await verifyMessage(operation.envelope, proof, { resolver, replay, cancel, recipient, now });
    if (envelope.intent === HANDSHAKE) return { kind: "handshake", message: handshakeIn(envelope), envelope, proof };
    // Whoever has a session uses it: what comes in clear was stripped of it.
    this.#sessions.table.refuseClear({ ownDid: recipient, peerDid: proof.signer });
    return { kind: "signed", operation: { ...operation, envelope }, proof };
  }

  async #handshake({ message, envelope, proof }: Extract<Received, { kind: "handshake" }>, call: Call): Promise<AgentEvent> {
    const { table, responder } = this.#sessions;
    const { reply, session } = await responder.receive(message, signedBy(proof, this.#host.now()));
    if (session !== undefined) table.add(session);
    const answer = handshakeMessage(reply, {
      ...{ id: this.#host.newId(), ts: this.#host.now() / 1_000, src: call.agent, dst: envelope.src },
      ...{ role: "agent", intent: "", context: { parentId: envelope.id }, meta: {} },
    });
    return { kind: "message", message: await this.#sign(answer, proof) };
  }

  #protection(received: Exclude<Received, { kind: "handshake" }>, isStream: boolean): (event: AgentEvent) => Promise<AgentEvent> {
    switch (received.kind) {
      case "signed":
        return (event) => signedAnswer(event, (message) => this.#sign(message, received.proof));
      case "sealed": {
        const { session } = received;
        const sealer = new EventSealer(session, isStream ? session.openStream() : undefined);
        return (event) => sealer.seal(event);
      }
      case "foreign":
        return async (event) => event;
      default:
        return received satisfies never;
    }
  }

  #sign(message: Envelope, request: Proof): Promise<Envelope> {
    const host = this.#host;
    const author = { identity: this.#identity, now: () => host.now(), newId: () => host.newId() };
    return signMessage(message, request.signer, author, request);
  }
}
