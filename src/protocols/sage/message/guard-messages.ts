import {
  AgentError,
  type AgentEvent,
  authoredRequests,
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
import { isNamed, loggedRefusal, SageError } from "../errors.js";
import { sageIdentity } from "../identity/signing-key.js";
import { type AcceptedSessions, acceptedSessions } from "../session/accepted-sessions.js";
import type { SageSession } from "../session/index.js";
import { checkPeerKeys } from "../session/keys-of.js";
import { EventOpener } from "../session/opened-events.js";
import { EventSealer, taskIn } from "../session/sealed-events.js";
import { readSettings } from "../settings.js";
import { EXTENSION_URI, HANDSHAKE, PROTOCOL, TASK_REQUEST } from "../wire.js";
import { authorCall, isBrought } from "./author-call.js";
import { BroughtTasks } from "./brought-tasks.js";
import { type Guard, GuardedTasks } from "./guard-tasks.js";
import { handshakeIn, handshakeMessage } from "./handshake-message.js";
import { MessageChallenges } from "./message-challenge.js";
import { type Answered, ownProof, proofIn, signedBy, signMessage, verifyMessage } from "./message-proof.js";
import { readSealedBy } from "./security.js";
import { signedAnswer } from "./signed-answer.js";
import { isTaskOperation } from "./task-request.js";

/**
 * Verifies and opens messages that are signed or sealed for this host, by whichever protocol and through whichever gateway they came, and
 * protects the answers likewise. What is for others is passed on as it is: they verify it, and a gateway never signs for an agent.
 */
export function guardMessages(host: Host): Handler {
  const identity = sageIdentity(host);
  const { passOn } = readSettings(host.settings(PROTOCOL));
  if (identity === undefined) return passOn ? host.handler : refuseMarked(host);
  const brought = new BroughtTasks(host, identity);
  const challenges = new MessageChallenges({ identity, now: () => host.now(), newId: () => host.newId() });
  const guard = { host, identity, passOn, challenges };
  const messages = new GuardedMessages(guard, brought);
  const tasks = new GuardedTasks(guard);
  return (operation, call) => {
    if (isTaskOperation(operation)) {
      const authored = authoredRequests.of(call);
      if (authored !== undefined) return tasks.handle(operation, authored.proof, call);
      const resumed = operation.kind === "task.subscribe" ? brought.resumed(operation, call) : undefined;
      return resumed ?? host.handler(operation, call);
    }
    if (operation.kind !== "send" || !isMarked(operation.envelope)) return host.handler(operation, call);
    return operation.delivery === "stream" ? messages.stream(operation, call) : messages.answer(operation, call);
  };
}

/** Nothing can be verified or opened here, and what says that it is protected is never handled as plain text. */
function refuseMarked(host: Host): Handler {
  return (operation, call) => {
    if (operation.kind !== "send" || !isMarked(operation.envelope)) return host.handler(operation, call);
    const problem = "the message is one of SAGE, and this server has no identity in a registry of SAGE to verify it with";
    return Promise.reject(reported(host, call, new SageError("policy_denied", problem)));
  };
}

/** Whether a message has a signature of SAGE, or says that it has one. */
function isMarked(envelope: Envelope): boolean {
  return ownProof(envelope) !== undefined || envelope.metadata?.[EXTENSION_URI] !== undefined || envelope.intent === HANDSHAKE;
}

/** Counts a refusal, and returns it. The server of SAGE does so itself for what its own requests bring. */
function reported(host: Host, call: Call, thrown: unknown): unknown {
  if (isNamed(thrown) && call.via.protocol !== PROTOCOL) host.refused(call, loggedRefusal(thrown));
  return thrown;
}

/** Webhooks get the events of a task in clear. The author did not sign for one: whoever brings the message may have added it. */
function checkPush({ push }: OperationOf<"send">, author: string, call: Call): void {
  if (push !== undefined && isBrought(call, author))
    throw new SageError("policy_denied", "a gateway that brings a message cannot ask for push notifications of its task");
}

/** A message as the agent gets it, and how its answer is protected. */
type Received =
  | { readonly kind: "signed"; readonly operation: OperationOf<"send">; readonly proof: Proof; readonly call: Call }
  | { readonly kind: "sealed"; readonly operation: OperationOf<"send">; readonly session: SageSession; readonly call: Call }
  | { readonly kind: "handshake"; readonly message: unknown; readonly envelope: Envelope; readonly proof: Proof }
  /** For somebody else. */
  | { readonly kind: "foreign"; readonly operation: OperationOf<"send">; readonly call: Call };

class GuardedMessages {
  readonly #host: Host;
  readonly #identity: Identity;
  readonly #passOn: boolean;
  readonly #challenges: MessageChallenges;
  readonly #brought: BroughtTasks;

  constructor({ host, identity, passOn, challenges }: Guard, brought: BroughtTasks) {
    this.#host = host;
    this.#passOn = passOn;
    this.#identity = identity;
    this.#challenges = challenges;
    this.#brought = brought;
  }

  /** Closed with the server. */
  get #sessions(): AcceptedSessions {
    return acceptedSessions(this.#identity);
  }

  async answer(operation: OperationOf<"send">, call: Call): Promise<AgentEvent> {
    const received = await this.#received(operation, call);
    if (received.kind === "handshake") return this.#handshake(received, call);
    const reply = this.#host.handler(received.operation, received.call);
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
    const reply = this.#host.handler(received.operation, received.call);
    const protect = this.#protection(received, true);
    if (isPromise(reply)) yield protect(await reply);
    else for await (const event of reply) yield protect(event);
  }

  async #received(operation: OperationOf<"send">, call: Call): Promise<Received> {
    try {
      const sealed = sealedIn(operation.envelope.content);
      return await (sealed === undefined ? this.#verified(operation, call) : this.#opened(operation, sealed.kid, call));
    } catch (thrown) {
      throw reported(this.#host, call, thrown);
    }
  }

  #foreign(operation: OperationOf<"send">, recipient: string, call: Call): Received {
    if (this.#passOn) return { kind: "foreign", operation, call };
    throw new SageError("sig.binding", `the message is for ${recipient.slice(0, 200)}, and not for this server`);
  }

  async #opened(operation: OperationOf<"send">, kid: string, call: Call): Promise<Received> {
    const { envelope } = operation;
    const { did, recipient } = readSealedBy(envelope.metadata);
    if (recipient !== this.#identity.did) return this.#foreign(operation, recipient, call);
    const session = this.#sessions.table.find({ ownDid: recipient, peerDid: did }, kid);
    await checkPeerKeys(session, this.#host.resolver, call.cancel);
    const opened = new EventOpener(session).message(envelope);
    checkPush(operation, did, call);
    return { kind: "sealed", operation: { ...operation, envelope: opened }, session, call: authorCall(call, did) };
  }

  async #verified(operation: OperationOf<"send">, call: Call): Promise<Received> {
    const { resolver, replay } = this.#host;
    const recipient = this.#identity.did;
    const proof = proofIn(operation.envelope);
    if (proof === undefined) throw new SageError("sig.missing", "the message is marked as one of SAGE, and is not signed");
    const { recipient: addressee } = readSigned(proof.signed);
    if (addressee !== recipient) return this.#foreign(operation, addressee, call);
    const now = (): number => this.#host.now();
    const { cancel } = call;
    const verification = { resolver, replay, challenges: this.#challenges, cancel, recipient, now };
    const { envelope } = await verifyMessage(operation.envelope, proof, verification);
    if (envelope.intent === TASK_REQUEST) throw new SageError("message.malformed", "a request about a task is no message");
    if (envelope.intent === HANDSHAKE) return { kind: "handshake", message: handshakeIn(envelope), envelope, proof };
    // Whoever has a session uses it: what comes in clear was stripped of it.
    this.#sessions.table.refuseClear({ ownDid: recipient, peerDid: proof.signer });
    checkPush(operation, proof.signer, call);
    return { kind: "signed", operation: { ...operation, envelope }, proof, call: authorCall(call, proof.signer) };
  }

  async #handshake({ message, envelope, proof }: Extract<Received, { kind: "handshake" }>, call: Call): Promise<AgentEvent> {
    const { table, responder } = this.#sessions;
    const { reply, session } = await responder
      .receive(message, signedBy(proof, this.#host.now()))
      .catch((thrown: unknown) => Promise.reject(reported(this.#host, call, thrown)));
    if (session !== undefined) table.add(session);
    const answer = handshakeMessage(reply, {
      ...{ id: this.#host.newId(), ts: this.#host.now() / 1_000, src: call.agent, dst: envelope.src },
      ...{ role: "agent", intent: "", context: { parentId: envelope.id }, meta: {} },
    });
    return { kind: "message", message: await this.#sign(answer, { request: proof }) };
  }

  #protection(received: Exclude<Received, { kind: "handshake" }>, isStream: boolean): (event: AgentEvent) => Promise<AgentEvent> {
    switch (received.kind) {
      case "signed":
        return (event) => {
          const task = isBrought(received.call, received.proof.signer) ? taskIn(event) : undefined;
          return signedAnswer(event, (message) => this.#sign(message, { request: received.proof, task }));
        };
      case "sealed": {
        const { session, call, operation } = received;
        const stream = isStream ? session.openStream() : undefined;
        // Only a gateway has other ids for the tasks of this host.
        const sealer = new EventSealer(session, { stream, namesTasks: isBrought(call, session.peerDid) });
        if (!isStream) return (event) => sealer.seal(event);
        return this.#brought.sealing(sealer, { session, messageId: operation.envelope.id }, call);
      }
      case "foreign":
        return async (event) => event;
      default:
        return received satisfies never;
    }
  }

  #sign(message: Envelope, answers: Answered): Promise<Envelope> {
    const host = this.#host;
    const author = { identity: this.#identity, now: () => host.now(), newId: () => host.newId() };
    return signMessage(message, answers.request.signer, author, answers);
  }
}
