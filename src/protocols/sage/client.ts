import {
  AgentError,
  type AgentEvent,
  type AuthoredRequest,
  authoredRequests,
  type Call,
  isPromise,
  isProtected,
  type Maybe,
  type Operation,
  RecentMap,
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
import { SignedMessages, type VerifiedAnswer } from "./message/signed-messages.js";
import { isTaskOperation, signTaskRequest } from "./message/task-request.js";
import { callSessions, sessionReceivers } from "./session/call-session.js";
import { PeerSessions } from "./session/peer-sessions.js";
import { EventOpener, EventSealer, taskIn } from "./session/sealed-events.js";
import type { SageSession } from "./session/session.js";
import { readSettings } from "./settings.js";
import { challengeIn } from "./signatures/challenge.js";
import { requestSigner } from "./signatures/request-signer.js";
import { PROTOCOL } from "./wire.js";

/** Tasks through a gateway whose ids at the agent a connection remembers. */
const KNOWN_TASKS = 10_000;

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
    author: (call) => state.authorOf(call),
    // A gateway has no part in the session.
    session: (call) => (gateway === undefined ? state.sessionOf(call) : undefined),
  });
  const signing: Link = {
    exchange: (request) => link.exchange(changeRequest(request, { signer })),
    close: () => link.close(),
  };
  const belowContext = { ...context, link: signing, peer: { ...peer, version: inner.versions[0] ?? "" } };
  const below = inner.connect(belowContext);
  const messages = new SignedMessages(context, identity, peerDid);
  /** Of tasks through a gateway: what the agent calls them. */
  const taskIds = new RecentMap<string>(KNOWN_TASKS);
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
    await author(operation, call, session);
    if (session === undefined) return operation.kind === "ping" ? pinged(call) : signedAnswer(operation, call);
    const { sealed, own } = messages.sealed(operation, new EventSealer(session));
    const opener = new EventOpener(session, own);
    return learned({ event: await opener.open(await one(below.handler(sealed, call))), task: opener.task });
  }

  async function* stream(operation: Operation, call: Call): AsyncGenerator<AgentEvent, void, void> {
    const session = await sessionFor(operation, call);
    await author(operation, call, session);
    if (session === undefined) {
      const { signed, proof } = await messages.signed(operation);
      for await (const event of all(below.handler(signed, call))) yield learned(await messages.verified(event, proof, call));
      return;
    }
    const { sealed, own } = messages.sealed(operation, new EventSealer(session));
    const opener = new EventOpener(session, own);
    for await (const event of all(below.handler(sealed, call)))
      yield learned({ event: await opener.next(event), task: opener.task });
  }

  /** A ping is not sealed. A peer that refuses what is not is there, too, if its refusal is signed. */
  async function pinged(call: Call): Promise<AgentEvent> {
    let isSigned = false;
    const seen: Link = {
      async exchange(request) {
        const response = await signing.exchange(request);
        isSigned = true; // by the peer, for this request: others are not returned
        return response;
      },
      close: async () => undefined,
    };
    const client = inner.connect({ ...belowContext, link: seen });
    try {
      return await one(client.handler({ kind: "ping" }, call));
    } catch (thrown) {
      if (isSigned && AgentError.from(thrown).code === "downgrade_refused") return { kind: "done" };
      throw thrown;
    } finally {
      await client.close();
    }
  }

  /** Through a gateway the author of a task proves itself to the agent. A gateway passes on the proofs of others. */
  async function author(operation: Operation, call: Call, session: Maybe<SageSession>): Promise<void> {
    if (!isTaskOperation(operation)) return;
    const foreign = authoredRequests.of(call);
    if (foreign !== undefined) return state.authored(call, foreign);
    if (gateway === undefined || identity === undefined || peerDid === undefined) return;
    const { kind, taskId } = operation;
    const request = { operation: kind, taskId: taskIds.get(taskId) ?? taskId, session: session?.keyId };
    state.authored(call, await signTaskRequest(request, peerDid, { identity, now: context.now, newId: context.newId }));
  }

  /** The event, after what the agent calls its task was noted. */
  function learned({ event, task }: VerifiedAnswer): AgentEvent {
    const shown = taskIn(event);
    if (shown !== undefined && task !== undefined && shown !== task) taskIds.set(shown, task);
    return event;
  }

  async function signedAnswer(operation: Operation, call: Call): Promise<AgentEvent> {
    const { signed, proof } = await messages.signed(operation);
    return learned(await messages.verified(await one(below.handler(signed, call)), proof, call));
  }

  async function sessionFor(operation: Operation, call: Call): Promise<Maybe<SageSession>> {
    const [chosen, receive] = [callSessions.of(call), sessionReceivers.of(call)];
    if (sessions === undefined) {
      if (chosen === undefined && receive === undefined) return undefined;
      throw new SageError("policy_denied", `${peerDid} is called in a session, and has none`, { sent: "no" });
    }
    if (receive === undefined && (!carriesContent(operation) || authoredRequests.of(call) !== undefined)) return undefined;
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
  readonly #authors = new WeakMap<Call, AuthoredRequest>();
  readonly #renewed = new WeakSet<Call>();

  nonceOf(call: Maybe<Call>): Maybe<string> {
    return call && this.#nonces.get(call);
  }

  authorOf(call: Maybe<Call>): Maybe<AuthoredRequest> {
    return call && this.#authors.get(call);
  }

  authored(call: Call, request: AuthoredRequest): void {
    this.#authors.set(call, request);
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
