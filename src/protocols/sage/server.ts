import {
  AgentError,
  type AgentEvent,
  type AuthoredRequest,
  authoredRequests,
  type Call,
  CallSlot,
  type Envelope,
  type Handler,
  type Interface,
  isPromise,
  isSealed,
  type Maybe,
  type Operation,
  type OperationOf,
  type Reply,
} from "../../envelope/index.js";
import type { Identity } from "../../security/identity/index.js";
import { type HttpRequest, type HttpResponse, isStream } from "../../transport/exchange.js";
import type { Host, Route, Served } from "../protocol.js";
import { readSigned } from "./codec.js";
import { isNamed, loggedRefusal, refusalFor, SageError, sageError } from "./errors.js";
import { sageIdentity, signingKeyOf } from "./identity/signing-key.js";
import { type Inner, isCarrier, isOver } from "./inner.js";
import { requestSigners } from "./message/author-call.js";
import { mentionsHandshake } from "./message/handshake-message.js";
import { markAsFresh, proofIn } from "./message/message-proof.js";
import { readSealedBy } from "./message/security.js";
import { readAuthor } from "./message/task-request.js";
import { acceptSessions } from "./session/accepted-sessions.js";
import { EventSealer } from "./session/sealed-events.js";
import type { SageSession } from "./session/session.js";
import { readSettings, type SageSettings } from "./settings.js";
import { isBySession, isMarked } from "./signatures/marker.js";
import { ownSigner, sessionSigner } from "./signatures/own-signer.js";
import { notServed, type SignedCaller, SignedCallers, targetOf } from "./signatures/signed-callers.js";
import { signedFrames } from "./signatures/stream-frames.js";
import { AUTHOR_HEADER, DID_HEADER, HANDSHAKE, PROTOCOL, STREAM_HEADER, VERSION } from "./wire.js";

/** Marked requests come here before they could be plain ones of the protocol below. */
const RANK = 100;

/** The routes of the protocol below that can carry SAGE. */
export function carryingRoutes({ protocol: { routes } }: Inner): readonly Route[] {
  return routes.filter((each) => each.health !== true && each.streamedBytes === undefined && each.upgrade === undefined);
}

/** The same, for marked requests. */
export function routesOver(inner: Inner): readonly Route[] {
  return carryingRoutes(inner).map((route) => ({
    ...route,
    rank: (route.rank ?? 0) + RANK,
    proves: true,
    signatures: inner.signatures,
    provesAlone: isBySession,
    when: (head) => isMarked(head) && (route.when?.(head) ?? true),
  }));
}

/** Serves the protocol below to callers that sign: what they send is verified before it is decoded, and what they get is signed. */
export function serveOver(inner: Inner, host: Host): Served {
  const identity = sageIdentity(host);
  const endSessions = identity && acceptSessions(identity, host);
  const side = new SignedSide(host, identity, inner);
  let served: Maybe<Served>;
  // A server without an identity seldom needs it.
  const below = (): Served => {
    served ??= inner.protocol.serve({ ...host, ...side.overrides, offers: () => true, koineCallers: true });
    return served;
  };
  const signer = identity && ownSigner(identity, () => host.now());
  const bySession = sessionSigner(() => host.now());

  async function exchange(request: HttpRequest): Promise<HttpResponse> {
    await side.decide(request);
    const response = await below().exchange(request);
    return identity === undefined ? response : signed(response, identity, side.sessionOf(request));
  }

  function signed(response: HttpResponse, own: Identity, session: Maybe<SageSession>): HttpResponse {
    const headers = { ...response.headers, date: new Date(host.now()).toUTCString(), [DID_HEADER]: own.did };
    const sign: NonNullable<HttpResponse["sign"]> = async (final, request) =>
      // A stream may have more pieces than a session may sign.
      (await (session === undefined || isStream(final.body) ? signer?.() : bySession(session))?.response(final, {
        method: request.method,
        target: targetOf(host, request),
        headers: request.headers,
        rawHeaders: request.rawHeaders,
      })) ?? {};
    if (!isStream(response.body)) return { ...response, headers, sign };
    const id = host.newId();
    const { id: keyId } = signingKeyOf(own);
    const body = signedFrames(response.body, id, (bytes) => own.sign(keyId, bytes));
    return { ...response, headers: { ...headers, [STREAM_HEADER]: id }, body, sign };
  }

  function interfaces(agent: string, publicUrl: string): readonly Interface[] {
    if (identity === undefined) return [];
    return below()
      .interfaces(agent, publicUrl)
      .filter((each) => isCarrier(inner, each))
      .map(({ url }) => ({ protocol: PROTOCOL, version: VERSION, binding: inner.binding, url }))
      .filter((each) => host.offers?.(each) ?? true);
  }

  return {
    exchange,
    interfaces,
    notify: (event, config, task) => {
      const { notify } = below();
      if (notify === undefined) throw new AgentError("push_unsupported", `${inner.id} has no push notifications`);
      return notify(event, config, task);
    },
    async close() {
      endSessions?.();
      await served?.close?.();
    },
  };
}

/** What a host is to the protocol below: callers are those who signed. */
class SignedSide {
  readonly #host: Host;
  readonly #identity: Maybe<Identity>;
  readonly #callers: SignedCallers;
  readonly #settings: SageSettings;
  readonly #inner: Inner;
  readonly #requests = new WeakMap<HttpRequest, SignedCaller | AgentError>();
  /** A protocol below may derive calls. */
  readonly #calls = new CallSlot<SignedCaller & { readonly request: HttpRequest; readonly isHandshake: boolean }>();

  constructor(host: Host, identity: Maybe<Identity>, inner: Inner) {
    this.#host = host;
    this.#inner = inner;
    this.#identity = identity;
    this.#callers = new SignedCallers(host, identity, inner.signatures);
    this.#settings = readSettings(host.settings(PROTOCOL));
  }

  /** Decides about a request. The protocol below gets the refusal where it asks for the caller, and writes it in its form. */
  async decide(request: HttpRequest): Promise<void> {
    try {
      if (this.#identity === undefined) throw notServed("this server has no identity in a registry of SAGE");
      if (!isOver(this.#inner, this.#settings.over)) throw notServed(`SAGE is not over ${this.#inner.id} here (sage.over)`);
      if (request.headers["content-type"]?.startsWith("application/grpc") === true)
        throw notServed("gRPC cannot be signed here: send it as JSON");
      this.#requests.set(request, await this.#callers.callerOf(request));
    } catch (thrown) {
      this.#requests.set(request, this.#refused(request, thrown));
    }
  }

  /** What the caller is told. The log has the reason. */
  #refused(request: HttpRequest, thrown: unknown): AgentError {
    const error = sageError(thrown);
    this.#host.refused(request, loggedRefusal(error));
    return refusalFor(error);
  }

  readonly overrides: Pick<Host, "admit" | "checkPublic" | "begin" | "handler"> = {
    admit: async (from) => this.#decided(from as HttpRequest).caller,
    checkPublic: (request) => void this.#decided(request),
    begin: (from, start) => {
      const request = from as HttpRequest; // the routes accept no sessions
      const decided = this.#decided(request);
      const { id, below } = this.#inner;
      const binding = this.#inner.bindingOf(start.via);
      if (binding === undefined) throw this.#refused(request, notServed(`this form cannot carry it: use ${id} ${below.version}`));
      const via = { protocol: PROTOCOL, version: VERSION, binding };
      // A handshake has no content: it is how a caller begins to seal.
      const isHandshake = decided.session === undefined && mentionsHandshake(request, this.#inner.contentHeaders);
      const sealedForHost = decided.session !== undefined || isHandshake;
      const authored = this.#authoredBy(request, decided);
      const call = this.#host.begin(from, { ...start, via, proved: decided.proved, sealedForHost });
      this.#calls.put(call, { ...decided, request, isHandshake });
      requestSigners.put(call, decided.did);
      if (authored !== undefined) authoredRequests.put(call, authored);
      return call;
    },
    handler: (operation, call) => this.#handle(operation, call),
  };

  /** The request of an author that a gateway brings, not verified yet. */
  #authoredBy(request: HttpRequest, { did }: SignedCaller): Maybe<AuthoredRequest> {
    const header = request.headers[AUTHOR_HEADER];
    if (header === undefined) return undefined;
    try {
      const authored = readAuthor(header);
      const { signer } = authored.proof;
      if (signer !== did && !this.#settings.relays.includes(did))
        throw new SageError("sig.binding", `${did} brought a request of ${signer.slice(0, 200)}`);
      return authored;
    } catch (thrown) {
      throw this.#refused(request, thrown);
    }
  }

  #decided(request: HttpRequest): SignedCaller {
    const decided = this.#requests.get(request);
    if (decided === undefined) throw new AgentError("internal", "nothing was decided about this request");
    if (decided instanceof AgentError) throw decided;
    return decided;
  }

  #handle: Handler = (operation, call) => {
    if (operation.kind !== "send" && this.#calls.of(call)?.isHandshake === true)
      return Promise.reject(new SageError("policy_denied", "the request was begun as a handshake, and is none"));
    if (operation.kind !== "send")
      return this.#sealed(operation, this.#reported(this.#host.handler(operation, call), call), call);
    if (operation.delivery === "stream") return this.#stream(operation, call);
    return this.#answer(operation, call);
  };

  async #answer(operation: OperationOf<"send">, call: Call): Promise<AgentEvent> {
    this.#checkProof(operation, call);
    const reply: Reply = this.#host.handler(operation, call);
    if (!isPromise(reply)) throw new AgentError("internal", "expected a single event, got a stream");
    return reply.catch((thrown: unknown) => this.#failed(call, thrown));
  }

  async *#stream(operation: OperationOf<"send">, call: Call): AsyncGenerator<AgentEvent, void, void> {
    this.#checkProof(operation, call);
    const reply: Reply = this.#host.handler(operation, call);
    if (isPromise(reply)) yield reply.catch((thrown: unknown) => this.#failed(call, thrown));
    else yield* this.#reportedEvents(reply, call);
  }

  #reported(reply: Reply, call: Call): Reply {
    if (authoredRequests.of(call) === undefined) return reply;
    return isPromise(reply) ? reply.catch((thrown: unknown) => this.#failed(call, thrown)) : this.#reportedEvents(reply, call);
  }

  async *#reportedEvents(events: AsyncIterable<AgentEvent>, call: Call): AsyncGenerator<AgentEvent, void, void> {
    try {
      yield* events;
    } catch (thrown) {
      this.#failed(call, thrown);
    }
  }

  /** What a session asked for is sealed in it. The answer to a message is sealed by the host, for whoever sealed the message. */
  #sealed({ kind }: Operation, reply: Reply, call: Call): Reply {
    const session = this.#calls.of(call)?.session;
    if (session === undefined) return reply;
    if (!isPromise(reply)) return sealedStream(reply, session);
    // The caller reads a stream, also where a handler has one event for it.
    const stream = kind === "task.subscribe" ? session.openStream() : undefined;
    return reply.then((event) => new EventSealer(session, { stream }).seal(event));
  }

  /** The session of a request that is signed with its key, while it can sign. */
  sessionOf(request: HttpRequest): Maybe<SageSession> {
    const decided = this.#requests.get(request);
    if (decided === undefined || decided instanceof AgentError || !decided.bySession) return undefined;
    return decided.session?.isUsable === true ? decided.session : undefined;
  }

  /** The message is signed by the caller, or brought by a gateway. The host verifies its signature, by whichever protocol it comes. */
  #checkProof({ envelope }: OperationOf<"send">, call: Call): void {
    const caller = this.#calls.of(call);
    if (caller === undefined) throw new AgentError("internal", "this call was not begun here");
    try {
      if (envelope.content.some(isSealed)) {
        this.#checkSealed(envelope, caller);
        return;
      }
      if ((caller.session !== undefined || caller.isHandshake) && envelope.intent !== HANDSHAKE)
        throw new SageError("policy_denied", "the request is in a session or begins one, and its message is not sealed");
      const proof = proofIn(envelope);
      if (proof === undefined) throw new SageError("sig.missing", "the request is signed, and its message is not");
      if (proof.signer === caller.did) markAsFresh(proof);
      else if (!this.#settings.relays.includes(caller.did))
        throw new SageError("sig.binding", `${caller.did} sent a message of ${proof.signer.slice(0, 200)}`);
      const { recipient } = readSigned(proof.signed);
      if (recipient !== this.#identity?.did && !this.#settings.passOn)
        throw new SageError("sig.binding", `the message is for ${recipient.slice(0, 200)}, and not for this server`);
    } catch (thrown) {
      throw this.#refused(caller.request, thrown);
    }
  }

  #checkSealed({ metadata }: Envelope, caller: SignedCaller): void {
    const { did, recipient } = readSealedBy(metadata);
    if (did !== caller.did && !this.#settings.relays.includes(caller.did))
      throw new SageError("sig.binding", `${caller.did} sent a message of ${did.slice(0, 200)}`);
    if (recipient !== this.#identity?.did && !this.#settings.passOn)
      throw new SageError("sig.binding", `the message is for ${recipient.slice(0, 200)}, and not for this server`);
  }

  /** A message that the host refused is logged with its reason. */
  #failed(call: Call, thrown: unknown): never {
    const caller = this.#calls.of(call);
    throw isNamed(thrown) && caller !== undefined ? this.#refused(caller.request, thrown) : thrown;
  }
}

async function* sealedStream(events: AsyncIterable<AgentEvent>, session: SageSession): AsyncGenerator<AgentEvent, void, void> {
  const sealer = new EventSealer(session, { stream: session.openStream() });
  for await (const event of events) yield sealer.seal(event);
}
