import { type AgentEvent, type Call, isPromise, type Maybe, type Proof, type Reply } from "../../../envelope/index.js";
import type { Identity } from "../../../security/identity/index.js";
import type { Host } from "../../protocol.js";
import { readSigned } from "../codec.js";
import { SageError } from "../errors.js";
import { acceptedSessions } from "../session/accepted-sessions.js";
import { checkPeerKeys } from "../session/keys-of.js";
import { EventSealer } from "../session/sealed-events.js";
import type { SageSession } from "../session/session.js";
import { authorCall } from "./author-call.js";
import type { MessageChallenges } from "./message-challenge.js";
import { acceptOnce, checkSigned } from "./message-proof.js";
import { readTaskRequest, type TaskOperation } from "./task-request.js";

/** What guards a host. */
export interface Guard {
  readonly host: Host;
  readonly identity: Identity;
  /** What is for others is not for this host, but it may bring it to whom it is for. */
  readonly passOn: boolean;
  readonly challenges: MessageChallenges;
}

/** Whose request it is, and the session that its answer is sealed in. */
interface Author {
  readonly did: string;
  readonly session: Maybe<SageSession>;
}

/** Verifies requests about tasks that authors signed for this host, and answers them as theirs. Those for others are passed on. */
export class GuardedTasks {
  readonly #host: Host;
  readonly #identity: Identity;
  readonly #passOn: boolean;
  readonly #challenges: MessageChallenges;

  constructor({ host, identity, passOn, challenges }: Guard) {
    this.#host = host;
    this.#identity = identity;
    this.#passOn = passOn;
    this.#challenges = challenges;
  }

  handle(operation: TaskOperation, proof: Proof, call: Call): Reply {
    return operation.kind === "task.subscribe" ? this.#stream(operation, proof, call) : this.#answer(operation, proof, call);
  }

  async #answer(operation: TaskOperation, proof: Proof, call: Call): Promise<AgentEvent> {
    const author = await this.#author(operation, proof, call);
    let last: Maybe<AgentEvent>;
    for await (const event of this.#events(operation, author, call)) last = event;
    if (last === undefined) throw new SageError("message.malformed", "the request about a task was answered with nothing");
    return last;
  }

  async *#stream(operation: TaskOperation, proof: Proof, call: Call): AsyncGenerator<AgentEvent, void, void> {
    yield* this.#events(operation, await this.#author(operation, proof, call), call);
  }

  async *#events(operation: TaskOperation, author: Maybe<Author>, call: Call): AsyncGenerator<AgentEvent, void, void> {
    const reply = this.#host.handler(operation, author === undefined ? call : authorCall(call, author.did));
    const session = author?.session;
    const stream = operation.kind === "task.subscribe" ? session?.openStream() : undefined;
    const sealer = session && new EventSealer(session, { stream, namesTasks: true });
    if (isPromise(reply)) {
      const event = await reply;
      yield sealer === undefined ? event : sealer.seal(event);
    } else for await (const event of reply) yield sealer === undefined ? event : sealer.seal(event);
  }

  /** Undefined: the request is for somebody else, and is passed on. Order: recipient, binding, time, record, signature, session, replay. */
  async #author(operation: TaskOperation, proof: Proof, call: Call): Promise<Maybe<Author>> {
    const signed = readSigned(proof.signed);
    const own = this.#identity.did;
    if (signed.recipient !== own) {
      if (this.#passOn) return undefined;
      throw new SageError("sig.binding", `the request is for ${signed.recipient.slice(0, 200)}, and not for this server`);
    }
    const asked = readTaskRequest(proof);
    if (asked.operation !== operation.kind || asked.taskId !== operation.taskId)
      throw new SageError("sig.binding", "the author signed another operation, or one on another task");
    const { resolver, replay } = this.#host;
    const challenges = this.#challenges;
    const verification = { resolver, replay, challenges, cancel: call.cancel, recipient: own, now: () => this.#host.now() };
    await checkSigned(signed, proof, signed, verification);
    const session = await this.#session(signed.did, asked.session, call);
    await acceptOnce(signed, proof, verification);
    // The author signed the id that this host gave the session: it has completed the handshake.
    session?.confirm();
    return { did: signed.did, session };
  }

  async #session(did: string, kid: Maybe<string>, { cancel }: Call): Promise<Maybe<SageSession>> {
    const { table } = acceptedSessions(this.#identity);
    const ends = { ownDid: this.#identity.did, peerDid: did };
    if (kid === undefined) {
      // Whoever has a session uses it.
      table.refuseClear(ends);
      return undefined;
    }
    const session = table.find(ends, kid);
    await checkPeerKeys(session, this.#host.resolver, cancel);
    return session;
  }
}
