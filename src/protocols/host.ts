import {
  AgentError,
  type Call,
  CallerCredential,
  type Card,
  type Floor,
  type Handler,
  type JsonObject,
  type Loss,
  type Maybe,
  type Records,
  type ReplayGuard,
  type Requirement,
  receivedProbes,
  recordsBelow,
  requestOf,
  startCall,
} from "../envelope/index.js";
import type { LanguageModel } from "../router/models/index.js";
import { type Admission, type AdmissionFacts, openAdmission } from "../security/admission.js";
import { createResolver, type Identity, type Resolver } from "../security/identity/index.js";
import { createReplayGuard } from "../security/replay/index.js";
import type { SignatureProfile } from "../security/signatures/index.js";
import { hopsIn, isProbe } from "../transport/call-headers.js";
import type { HttpRequest, RelayedSessionFacts, RequestHead, Session, SessionMessage } from "../transport/exchange.js";
import { blame } from "../transport/fields.js";
import { DEFAULT_LIMITS, type Limits } from "../transport/limits.js";
import { agentInbox } from "./agent-inbox.js";
import { arrivalFloor, arrivalRefusal, missingOnArrival } from "./arrival-floor.js";
import type { Health } from "./health.js";
import type { CallBegin, Contribution, Host, IdSource, Inbox } from "./protocol.js";
import type { Replies } from "./replies.js";
import { RequestAdmission } from "./request-admission.js";

/** Whether a host can answer calls. Found out for each request, never remembered. */
export interface HealthSource extends Health {
  /** The host has its port for itself, so `/livez` and `/readyz` are not those of another app. */
  readonly probes: boolean;
}

/** The parts of a host. Everything optional has a default that is safe for tests. */
export interface HostParts {
  /** Answers the operations. */
  readonly handler: Handler;
  /** The cards of the served agents; the first one is the default agent. */
  readonly cards: readonly Card[];
  /** The id source. */
  readonly ids: IdSource;
  /** Size and time limits. Default: `DEFAULT_LIMITS`. */
  readonly limits?: Maybe<Limits>;
  /** Default: HTTP/1.1 only. */
  readonly http2?: Maybe<boolean>;
  /** Authenticates callers. Default: every caller is admitted as anonymous. */
  readonly admission?: Maybe<Admission>;
  /** The server accepts sessions. Default: no. */
  readonly sessions?: Maybe<boolean>;
  /** Default: messages that peers initiate are sent to the agent that they name, or else to the first. */
  readonly inbox?: Maybe<Inbox>;
  /** Default: cards are not signed. */
  readonly signatures?: Maybe<Host["signatures"]>;
  /** The public base URL. Default: taken from the `Host` header. */
  readonly publicUrl?: Maybe<string>;
  /** Settings by protocol name. Default: none. */
  readonly settings?: Maybe<{ readonly [protocol: string]: JsonObject }>;
  /** Default: faults are ignored. */
  readonly onFault?: Maybe<Host["fault"]>;
  /** The identity of the host. Default: none. */
  readonly identity?: Maybe<Identity>;
  /** Finds DID documents. Default: did:key, and did:web at public addresses. */
  readonly resolver?: Maybe<Resolver>;
  /** The language model for protocols that need one. Default: none. */
  readonly model?: Maybe<LanguageModel>;
  /** Default: none; `records()` throws. */
  readonly records?: Maybe<Records>;
  /** The records whose values are content. Default: `records`. */
  readonly contentRecords?: Maybe<Records>;
  /** Accepts each signed message once. Default: in memory; then messages from before the start are refused. */
  readonly replay?: Maybe<ReplayGuard>;
  /** The server at which answers arrive that connections of this process expect. Default: there is none. */
  readonly replies?: Maybe<Replies>;
  /** Default: this host sends no requests of its own. */
  readonly outgoing?: Maybe<Host["outgoing"]>;
  /** Default: URLs in messages are not fetched. */
  readonly follow?: Maybe<Host["follow"]>;
  /** Whether calls can be answered. Default: always. */
  readonly health?: Maybe<HealthSource>;
  /** How callers send content that is too large for a body; added to the refusal. Default: they cannot. */
  readonly largeContent?: Maybe<string>;
  /** Members of shared documents that belong to no protocol. Default: none. */
  readonly contributions?: Maybe<readonly Contribution[]>;
  /** Called for everything of a call that could not be carried between the caller and the agent. */
  readonly onLoss?: Maybe<(loss: Loss, call: Call) => void>;
  /** Whether the caller's credentials are forwarded to the agent's upstream. Default: never. */
  readonly sendsCredentialsOn?: Maybe<(agent: string) => boolean>;
  /** The security that callers of an agent must bring, and that its calls keep. Default: none. */
  readonly requiredBy?: Maybe<(agent: string) => Floor>;
  /** Called with a call that is refused because it brings less than required. */
  readonly onBelowFloor?: Maybe<(head: RequestHead, error: AgentError, missing: Requirement, start: CallBegin) => void>;
  /** The peer behind an agent, to which sealed sessions are passed on. Default: none. */
  readonly relayed?: Maybe<NonNullable<Host["relayed"]>>;
  /** Called when a session is passed on unopened. */
  readonly onRelayed?: Maybe<(session: Session, facts: RelayedSessionFacts) => void>;
  /** Called when a request or a message of a session has become a call. */
  readonly callStarted?: Maybe<(from: HttpRequest | SessionMessage, call: Call) => void>;
}

/** A host with what the front needs beside the protocols. */
export interface FrontHost extends Host {
  readonly admission: RequestAdmission;
  readonly health: HealthSource;
  /** How callers send content that is too large for a body. */
  readonly largeContent: Maybe<string>;
  /** Members of shared documents that belong to no protocol. */
  readonly contributions: readonly Contribution[];
}

const ALWAYS_HEALTHY: HealthSource = { status: () => "ok", takesCalls: () => "ok", probes: false };

/** Creates a host from its parts. */
export function createHost(parts: HostParts): FrontHost {
  const publicUrl = parts.publicUrl?.replace(/\/$/, "");
  const now = (): number => parts.ids.now();
  const limits = parts.limits ?? DEFAULT_LIMITS;
  const resolver = parts.resolver ?? createResolver({ now });
  const replay = parts.replay ?? createReplayGuard({ limits, now });
  const shared: HostFacts = { now, resolver, replay, publicUrl };
  const admission = new RequestAdmission(
    parts.admission ?? openAdmission(),
    (head, signatures) => new RequestFacts(head, shared, signatures),
  );
  return {
    handler: parts.handler,
    limits,
    http2: parts.http2 ?? false,
    sessions: parts.sessions ?? false,
    cards: () => parts.cards,
    signatures: parts.signatures ?? (() => []),
    admission,
    health: parts.health ?? ALWAYS_HEALTHY,
    largeContent: parts.largeContent,
    contributions: parts.contributions ?? [],
    admit: (from) => admission.admit(headOf(from)),
    identify: (from, peer) => admission.identify(headOf(from), peer),
    refused(from, error) {
      const head = "derive" in from ? beganWith(from) : headOf(from);
      if (head !== undefined) admission.onUnidentified?.(head, error);
    },
    begin: (from, start) => begin(parts, from, start),
    relayed: (agent) => parts.relayed?.(agent),
    relaying: (session, facts) => parts.onRelayed?.(session, facts),
    publicUrl: (request) => publicUrl ?? ownUrl(request),
    now,
    newId: parts.ids.newId,
    fault: (thrown) => parts.onFault?.(thrown),
    identity: parts.identity,
    resolver,
    replay,
    model: parts.model,
    inbox: parts.inbox ?? agentInbox(parts, limits),
    outgoing: parts.outgoing ?? rejectOutgoing,
    records(protocol, holding) {
      const records = holding === "content" ? (parts.contentRecords ?? parts.records) : parts.records;
      if (records === undefined) throw new AgentError("internal", "this host has no store for records");
      return recordsBelow(records, protocol);
    },
    follow: parts.follow ?? rejectFollow,
    settings: (protocol) => parts.settings?.[protocol],
  };
}

function headOf(from: RequestHead | Session): RequestHead {
  return "request" in from ? from.request : from;
}

/** Undefined: the call is one of this process. */
function beganWith(call: Call): Maybe<RequestHead> {
  const from = requestOf(call) as Maybe<RequestHead | SessionMessage>; // `begin` gave it
  return from !== undefined && "session" in from ? from.session.request : from;
}

function begin(parts: HostParts, from: HttpRequest | SessionMessage, start: CallBegin): Call {
  const { caller, agent, via, parameters, deadline } = start;
  const { onLoss } = parts;
  const reportLoss = onLoss && ((loss: Loss) => onLoss(loss, call));
  const message = "session" in from ? from : undefined;
  const head = "session" in from ? from.session.request : from;
  const credential = parts.sendsCredentialsOn?.(agent) === true ? credentialIn(head) : undefined;
  const hops = message?.hops ?? hopsIn(head.headers);
  const required = parts.requiredBy?.(agent);
  const floor = arrivalFloor(head, start.proved, required);
  if (required !== undefined) checkArrival(parts, head, start, required);
  const call: Call = startCall({
    agent,
    caller,
    credential,
    via,
    parameters,
    deadline,
    hops,
    floor,
    request: message ?? head,
    reportLoss,
  });
  if (message === undefined && isProbe(head.headers)) receivedProbes.put(call, { acts: false });
  parts.callStarted?.(from, call);
  if (message === undefined) head.call ??= call;
  else message.session.assign(message.frame, call);
  return call;
}

function checkArrival(parts: HostParts, head: RequestHead, start: CallBegin, required: Floor): void {
  const missing = missingOnArrival(head, start, required);
  if (missing === undefined) return;
  const error = arrivalRefusal(missing);
  parts.onBelowFloor?.(head, error, missing, start);
  throw error;
}

/** The facts that all requests of a host share. */
interface HostFacts extends Pick<AdmissionFacts, "now" | "replay" | "resolver"> {
  readonly publicUrl: Maybe<string>;
}

/** Computed on demand: made for every request, and most admissions read none of it. */
class RequestFacts implements AdmissionFacts {
  readonly #head: RequestHead;
  readonly #host: HostFacts;
  readonly signatures: Maybe<SignatureProfile>;

  constructor(head: RequestHead, host: HostFacts, signatures: Maybe<SignatureProfile>) {
    this.#head = head;
    this.#host = host;
    this.signatures = signatures;
  }

  get now(): () => number {
    return this.#host.now;
  }

  get replay(): ReplayGuard {
    return this.#host.replay;
  }

  get resolver(): Resolver {
    const { resolver } = this.#host;
    return resolver.forCaller?.(this.#head.connection.remote) ?? resolver;
  }

  get target(): string {
    const { path, query, target } = this.#head;
    const { publicUrl } = this.#host;
    return publicUrl === undefined ? target : `${publicUrl}${path}${query === "" ? "" : `?${query}`}`;
  }
}

function credentialIn({ headers: { authorization } }: RequestHead): Maybe<CallerCredential> {
  return authorization === undefined ? undefined : new CallerCredential(authorization);
}

async function rejectOutgoing(): Promise<never> {
  throw new AgentError("forbidden", "this host sends no requests of its own", { sent: "no" });
}

async function rejectFollow(): Promise<never> {
  throw new AgentError("forbidden", "this host does not fetch URLs from messages", { sent: "no" });
}

function ownUrl({ connection, headers }: RequestHead): string {
  return `${connection.secure ? "https" : "http"}://${headers["host"] ?? "localhost"}`;
}

/** Converts a thrown value to the error for the caller. Unexpected errors are reported to the host; the caller gets no details. */
export function callerError(host: Pick<Host, "fault">, thrown: unknown): AgentError {
  const error = blame(thrown, "invalid_message");
  if (error.code === "internal" && !(thrown instanceof AgentError)) host.fault(thrown);
  return error;
}
