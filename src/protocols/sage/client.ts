import {
  AgentError,
  type AgentEvent,
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
import type { Client, ClientContext } from "../protocol.js";
import { tlsProtection } from "../tls-protection.js";
import { agentDid, calledAgent, offersSessions } from "./agent-did.js";
import { CallStates } from "./call-states.js";
import { SageError } from "./errors.js";
import { sageIdentity } from "./identity/signing-key.js";
import type { Inner } from "./inner.js";
import { SignedMessages, type VerifiedAnswer } from "./message/signed-messages.js";
import { isTaskOperation, signTaskRequest } from "./message/task-request.js";
import { callSessions, sessionReceivers } from "./session/call-session.js";
import { EventOpener } from "./session/opened-events.js";
import { PeerSessions } from "./session/peer-sessions.js";
import { EventSealer, taskIn } from "./session/sealed-events.js";
import type { SageSession } from "./session/session.js";
import { readSettings } from "./settings.js";
import { requestSigner } from "./signatures/request-signer.js";
import { PROTOCOL } from "./wire.js";

/** Tasks through a gateway whose ids at the agent a connection remembers. */
const KNOWN_TASKS = 10_000;

export interface SageClient extends Client {
  /** The agent is there, and is the one that is called. Throws why that is not proved. */
  prove(call: Call): Promise<void>;
}

/** The client side of the protocol below, over requests and messages that are signed and sealed, and answers that are verified. */
export function connectOver(inner: Inner, context: ClientContext): SageClient {
  const identity = sageIdentity(context);
  const peerDid = calledAgent(context) ?? agentDid(context.peer.card);
  if (identity === undefined || peerDid === undefined) return refusing(context, identity);
  const { gateway, seal, handshake: form } = readSettings(context.settings(PROTOCOL));
  const { link, peer } = context;
  const state = new CallStates();
  const signer = requestSigner({
    ...{ context, identity, peerDid: gateway ?? peerDid, profile: inner.signatures },
    challenge: (call) => state.nonceOf(call),
    author: (call) => state.authorOf(call),
    // A gateway has no part in the session.
    session: (call) => (gateway === undefined ? state.sessionOf(call) : undefined),
  });
  const signing: Link = {
    exchange: (request) => link.exchange(changeRequest(request, { signer })),
    close: () => link.close(),
  };
  const belowContext = { ...context, link: signing, peer: { ...peer, ...inner.below } };
  const below = inner.protocol.connect(belowContext);
  const messages = new SignedMessages(context, identity, peerDid);
  /** Of tasks through a gateway: what the agent calls them. */
  const taskIds = new RecentMap<string>(KNOWN_TASKS);
  const isSealed = seal && offersSessions(peer.card);
  const sessions = isSealed
    ? new PeerSessions({
        ...{ context, identity, peerDid, form },
        send: (operation) => repeated(state.begun(startCall({})), (call) => signedAnswer(operation, call)),
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
        await mayRepeat(call, thrown);
      }
    }
  }

  async function* streamed(operation: Operation, call: Call): AsyncGenerator<AgentEvent, void, void> {
    for (;;) {
      try {
        yield* stream(operation, call);
        return;
      } catch (thrown) {
        await mayRepeat(call, thrown);
      }
    }
  }

  /** Throws what repeating cannot mend. */
  async function mayRepeat(call: Call, thrown: unknown): Promise<void> {
    const request = state.requestOf(call);
    const nonce = request && (await messages.askedNonce(AgentError.from(thrown), request, call));
    if (nonce === undefined || !state.signAgain(call, nonce)) state.mayRepeat(call, thrown);
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
      const { signed, proof } = await signedHere(operation, call);
      for await (const event of all(below.handler(signed, call))) yield learned(await messages.verified(event, proof, call));
      return;
    }
    const { sealed, own } = messages.sealed(operation, new EventSealer(session));
    const opener = new EventOpener(session, own);
    for await (const event of all(below.handler(sealed, call)))
      yield learned({ event: await opener.next(event), task: opener.task });
  }

  /** By a handshake, whose session the connection then uses. Where there is none, or it is refused, by a ping. */
  async function prove(call: Call): Promise<void> {
    try {
      if (sessions !== undefined && gateway === undefined) return await orCancelled(sessions.prepare(), call);
    } catch (thrown) {
      if (isUnreached(AgentError.from(thrown))) throw thrown;
    }
    await repeated(call, () => answer({ kind: "ping" }, call));
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
    const client = inner.protocol.connect({ ...belowContext, link: seen });
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
    const { now, newId } = context;
    const authored = await signTaskRequest(request, peerDid, { identity, now, newId, nonce: state.askedOf(call) });
    state.signed(call, authored.proof);
    state.authored(call, authored);
  }

  /** The event, after what the agent calls its task was noted. */
  function learned({ event, task }: VerifiedAnswer): AgentEvent {
    const shown = taskIn(event);
    if (shown !== undefined && task !== undefined && shown !== task) taskIds.set(shown, task);
    return event;
  }

  async function signedHere(operation: Operation, call: Call): ReturnType<SignedMessages["signed"]> {
    const made = await messages.signed(operation, state.askedOf(call));
    if (made.proof !== undefined) state.signed(call, made.proof);
    return made;
  }

  async function signedAnswer(operation: Operation, call: Call): Promise<AgentEvent> {
    const { signed, proof } = await signedHere(operation, call);
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
    prove,
    protection: () => raiseFloor(tlsProtection(peer.url), own),
    async close() {
      sessions?.close();
      await below.close();
    },
  };
}

function refusing({ peer }: ClientContext, identity: Maybe<Identity>): SageClient {
  const why = identity === undefined ? "there is no identity to sign with" : "its card names no DID of SAGE";
  const error = new SageError("policy_denied", `${peer.url} is called by SAGE, and ${why}`, { sent: "no" });
  const refuse = (): Promise<never> => Promise.reject(error);
  return { handler: refuse, prove: refuse, protection: () => tlsProtection(peer.url), close: async () => undefined };
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

/** Nobody answered: asking otherwise does not help. */
function isUnreached({ code }: AgentError): boolean {
  return code === "unavailable" || code === "deadline" || code === "cancelled" || code === "interrupted";
}

/** The result, or the reason for which the caller no longer waits for it. */
function orCancelled<T>(work: Promise<T>, { cancel }: Call): Promise<T> {
  return new Promise((resolve, reject) => {
    const off = cancel.onCancel(reject);
    work.then(resolve, reject).finally(off);
  });
}

function one(reply: Reply): Promise<AgentEvent> {
  if (isPromise(reply)) return reply;
  throw new AgentError("internal", "expected a single event, got a stream");
}

async function* all(reply: Reply): AsyncGenerator<AgentEvent, void, void> {
  if (isPromise(reply)) yield await reply;
  else yield* reply;
}
