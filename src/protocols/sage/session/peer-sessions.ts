import { AgentError, type AgentEvent, CancelSource, type JsonObject, type OperationOf } from "../../../envelope/index.js";
import type { Identity } from "../../../security/identity/index.js";
import type { ClientContext } from "../../protocol.js";
import { establish, type HandshakeForm } from "../handshake/index.js";
import { handshakeIn, handshakeMessage } from "../message/handshake-message.js";
import { HANDSHAKE } from "../wire.js";
import { checkPeerKeys, keysOf } from "./keys-of.js";
import { keepPrepared, takePrepared } from "./prepared-sessions.js";
import type { SageSession } from "./session.js";
import { SessionError } from "./session-error.js";
import { SessionTable } from "./session-table.js";

export interface PeerSessionsOptions {
  readonly context: ClientContext;
  readonly identity: Identity;
  readonly peerDid: string;
  readonly form: HandshakeForm;
  /** Sends a signed message and returns the verified answer. */
  send(operation: OperationOf<"send">): Promise<AgentEvent>;
}

/** The sessions of a client with one agent: one is used for all calls, and the next is prepared before it ends. */
export class PeerSessions {
  readonly #options: PeerSessionsOptions;
  readonly #table: SessionTable;

  constructor(options: PeerSessionsOptions) {
    this.#options = options;
    this.#table = new SessionTable({ now: () => options.context.now() });
  }

  /** A session that the keys of both sides still allow. There is no answer without one: nothing is sent in clear instead. */
  async obtain(): Promise<SageSession> {
    const { identity, peerDid } = this.#options;
    return this.checked(await this.#table.obtain({ ownDid: identity.did, peerDid }, () => this.#preparedOrNew()));
  }

  /** The session, if it is one with this agent that has not ended. */
  async checked(session: SageSession): Promise<SageSession> {
    const { identity, peerDid, context } = this.#options;
    if (session.ownDid !== identity.did || session.peerDid !== peerDid) throw new SessionError("session.unknown");
    session.checkOpen();
    await checkPeerKeys(session, context.resolver, new CancelSource());
    return session;
  }

  /** Makes a session for the connection with this agent that comes next. */
  async prepare(): Promise<void> {
    const { identity, form } = this.#options;
    keepPrepared(identity, form, await this.#establish());
  }

  close(): void {
    this.#table.close();
  }

  async #preparedOrNew(): Promise<SageSession> {
    const { identity, form, peerDid } = this.#options;
    return takePrepared(identity, form, peerDid) ?? this.#establish();
  }

  #establish(): Promise<SageSession> {
    const { context, identity, peerDid, form } = this.#options;
    const side = {
      ...{ identity, replay: context.replay },
      now: () => context.now(),
      newId: () => context.newId(),
      keysOf: (did: string) => keysOf(did, context.resolver, new CancelSource()),
    };
    return establish(side, { peerDid, form }, (message) => this.#exchange(message));
  }

  async #exchange(message: JsonObject): Promise<unknown> {
    const { context, send } = this.#options;
    const envelope = handshakeMessage(message, {
      ...{ id: context.newId(), ts: context.now() / 1_000, src: "", dst: context.peer.card.name },
      ...{ role: "user", intent: HANDSHAKE, context: {}, meta: {} },
    });
    const event = await send({ kind: "send", envelope, delivery: "answer", task: "auto" });
    if (event.kind === "message") return handshakeIn(event.message);
    // A gateway whose protocol has nothing but tasks makes one of it. The message was verified in either place.
    const said = event.kind === "task" && event.task.status.state === "completed" ? event.task.status.message : undefined;
    if (said !== undefined) return handshakeIn(said);
    throw new AgentError("handshake_failed", `the agent answered the handshake with a ${event.kind}`, { sent: "maybe" });
  }
}
