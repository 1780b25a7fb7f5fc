import {
  AgentError,
  type AgentEvent,
  type Call,
  isPromise,
  isProtected,
  type Maybe,
  type Operation,
  type Reply,
  raiseFloor,
  startCall,
} from "../../envelope/index.js";
import type { Identity } from "../../security/identity/index.js";
import type { Link } from "../../transport/exchange.js";
import { changeRequest } from "../../transport/request.js";
import type { Client, ClientContext, Protocol } from "../protocol.js";
import { tlsProtection } from "../tls-protection.js";
import { agentDid, calledAgent, offersSessions } from "./agent-did.js";
import { namedByPeer, SageError } from "./errors.js";
import { sageIdentity } from "./identity/signing-key.js";
import { SignedMessages } from "./message/signed-messages.js";
import { callSessions, sessionReceivers } from "./session/call-session.js";
import { PeerSessions } from "./session/peer-sessions.js";
import { EventOpener, EventSealer } from "./session/sealed-events.js";
import type { SageSession } from "./session/session.js";
import { readSettings } from "./settings.js";
import { challengeIn } from "./signatures/challenge.js";
import { requestSigner } from "./signatures/request-signer.js";
import { PROTOCOL } from "./wire.js";

/** The client side of the protocol below, over requests and messages that are signed and sealed, and answers that are verified. */
export function connectOver(inner: Protocol, context: ClientContext): Client {
  const identity = sageIdentity(context);
  const peerDid = calledAgent(context) ?? agentDid(context.peer.card);
  if (identity === undefined || peerDid === undefined) return refusing(context, identity);
  const { gateway, seal, handshake: form } = readSettings(context.settings(PROTOCOL));
  const { link, peer } = context;
  const state = new CallStates();
  const signer = requestSigner({
    ...{ context, identity, peerDid: gateway ?? peerDid },
    challenge: (call) => state.nonceOf(call),
    // A gateway has no part in the session.
    session: (call) => (gateway === undefined ? state.sessionOf(call) : undefined),
  });
  const signing: Link = {
    exchange: (request) => link.exchange(changeRequest(request, { signer })),
    close: () => link.close(),
  };
  const below = inner.connect({ ...context, link: signing, peer: { ...peer, version: inner.versions[0] ?? "" } });
  const messages = new SignedMessages(context, identity, peerDid);
  const isSealed = seal && offersSessions(peer.card);
  const sessions = isSealed
    ? new PeerSessions({
        ...{ context, identity, peerDid, form },
        send: (operation) => repeated(startCall({}), (call) => signedAnswer(operation, call)),
      })
    : undefined;

  function handler(operation: Operation, call: Call): Reply {
    return isStreamed(operation) ? streamed(operation, call) : repeated(call, () => answer(operation, call));
  }

  /** Once more if the peer has just started, or has forgotten the session: in both cases it did nothing. */
  async function repeated(call: Call, run: (call: Call) => Promise<AgentEvent>): Promise<AgentEvent> {
    for (;;) {
      try {
        return await run(call);
      } catch (thrown) {
        state.mayRepeat(call, thrown);
      }
    }
  }

  async function* streamed(operation: Operation, call: Call): AsyncGenerator<AgentEvent, void, void> {
    for (;;) {
      try {
        yield* stream(operation, call);
        return;
      } catch (thrown) {
        state.mayRepeat(call, thrown);
      }
    }
  }

  async function answer(operation: Operation, call: Call): Promise<AgentEvent> {
    const session = await sessionFor(operation, call);
    if (session === undefined) return signedAnswer(operation, call);
    const { sealed, own } = messages.sealed(operation, new EventSealer(session));
    return new EventOpener(session, own).open(await one(below.handler(sealed, call)));
  }

  async function* stream(operation: Operation, call: Call): AsyncGenerator<AgentEvent, void, void> {
    const session = await sessionFor(operation, call);
    if (session === undefined) {
      const { signed, proof } = await messages.signed(operation);
      for await (const event of all(below.handler(signed, call))) yield messages.verified(event, proof, call);
      return;
    }
    const { sealed, own } = messages.sealed(operation, new EventSealer(session));
    const opener = new EventOpener(session, own);
    for await (const event of all(below.handler(sealed, call))) yield opener.next(event);
  }

  async function signedAnswer(operation: Operation, call: Call): Promise<AgentEvent> {
    const { signed, proof } = await messages.signed(operation);
    return messages.verified(await one(below.handler(signed, call)), proof, call);
  }

  async function sessionFor(operation: Operation, call: Call): Promise<Maybe<SageSession>> {
    const [chosen, receive] = [callSessions.of(call), sessionReceivers.of(call)];
    if (sessions === undefined) {
      if (chosen === undefined && receive === undefined) return undefined;
      throw new SageError("policy_denied", `${peerDid} is called in a session, and has none`, { sent: "no" });
    }
    if (receive === undefined && !carriesContent(operation)) return undefined;
    const session = await (chosen === undefined ? sessions.obtain() : sessions.checked(chosen));
    receive?.(session);
    state.use(call, session);
    return session;
  }

  // Anyone can have a DID: only one that the user named says who is called.
  const isNamed = calledAgent(context) !== undefined;
  const own = { signed: true, identity: isNamed, endToEnd: isSealed, encrypted: isSealed };
  return {
    ...below,
    handler,
    protection: () => raiseFloor(tlsProtection(peer.url), own),
    async close() {
      sessions?.close();
      await below.close();
    },
  };
}

function refusing({ peer }: ClientContext, identity: Maybe<Identity>): Client {
  const why = identity === undefined ? "there is no identity to sign with" : "its card names no DID of SAGE";
  const error = new SageError("policy_denied", `${peer.url} is called by SAGE, and ${why}`, { sent: "no" });
  return { handler: () => Promise.reject(error), protection: () => tlsProtection(peer.url), close: async () => undefined };
}

function isStreamed(operation: Operation): boolean {
  return (
    (operation.kind === "send" && operation.delivery === "stream") || (operation.kind === "task.subscribe" && operation.follow)
  );
}

/** What carries content is sealed, unless somebody else did: a ping or a card needs no session. */
function carriesContent(operation: Operation): boolean {
  return operation.kind === "send" ? !isProtected(operation.envelope) : operation.kind.startsWith("task.");
}

function one(reply: Reply): Promise<AgentEvent> {
  if (isPromise(reply)) return reply;
  throw new AgentError("internal", "expected a single event, got a stream");
}

async function* all(reply: Reply): AsyncGenerator<AgentEvent, void, void> {
  if (isPromise(reply)) yield await reply;
  else yield* reply;
}

/** What the calls under way know: the session that they use, and the nonce that the peer asked for. */
class CallStates {
  readonly #nonces = new WeakMap<Call, string>();
  readonly #sessions = new WeakMap<Call, SageSession>();
  readonly #renewed = new WeakSet<Call>();

  nonceOf(call: Maybe<Call>): Maybe<string> {
    return call && this.#nonces.get(call);
  }

  sessionOf(call: Maybe<Call>): Maybe<SageSession> {
    return call && this.#sessions.get(call);
  }

  use(call: Call, session: SageSession): void {
    this.#sessions.set(call, session);
  }

  /** Throws what repeating cannot mend. Nothing is repeated twice for the same reason. */
  mayRepeat(call: Call, thrown: unknown): void {
    const error = namedByPeer(thrown);
    const nonce = challengeIn(AgentError.from(thrown));
    const session = this.#sessions.get(call);
    this.#sessions.delete(call);
    if (nonce !== undefined && !this.#nonces.has(call)) {
      this.#nonces.set(call, nonce);
      return;
    }
    if (error.name !== "ErrSessionExpired" || session === undefined || this.#renewed.has(call)) throw error;
    this.#renewed.add(call);
    session.close();
  }
}
