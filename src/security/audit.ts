import { AgentError, ERRORS, isErrorCode, type Maybe, type Principal, parseTraceparent, RecentMap } from "../envelope/index.js";
import { isProbe } from "../transport/call-headers.js";
import type { Exchange, HttpResponse, RelayedSessionFacts, RequestHead, Session } from "../transport/exchange.js";
import { networkOf } from "../transport/ip-address.js";
import { type Admission, type AdmissionOutcome, admittedOf, type HeadAdmission } from "./admission.js";
import type { AuditEntry, AuditEvent } from "./audit-entry.js";
import type { KeyNote } from "./jwt-keys.js";
import { mapDecision } from "./map-decision.js";

/** Receives audit entries. `record` never throws and never blocks. */
export interface AuditSink {
  record(entry: AuditEntry): void;
  /** Resolves when everything recorded is written or counted as lost. */
  close(): Promise<void>;
}

/** Further facts of an event. */
export type AuditFacts = Omit<AuditEntry, "at" | "event" | "who"> & { readonly who?: Maybe<string> };

/** Records the decisions of one host. */
export interface AuditTrail {
  /** Wraps an admission so that its decisions are recorded. */
  admission(admission: Admission): Admission;
  /** Wraps an exchange so that refusals after admission, such as a foreign tenant, are recorded. */
  exchange(exchange: Exchange): Exchange;
  /** Records a caller that was authenticated inside a protocol. */
  admitted(request: RequestHead, caller: Principal): void;
  /** Records a refusal, once per request. */
  refused(request: RequestHead, error: AgentError, caller?: Maybe<Principal>): void;
  /** Records a session that is passed on unopened, and its end with what passed. */
  relayed(session: Session, facts: RelayedSessionFacts): void;
  note(event: AuditEvent, facts: AuditFacts): void;
}

/** How often a caller that keeps calling is recorded again, with the number of calls in between. */
export const AUTHENTICATED_INTERVAL_MS = 300_000;
/** Callers tracked for that; an evicted one is only recorded again sooner. */
const MAX_CALLERS = 10_000;

/**
 * Refusals of one kind from one network within five minutes are recorded individually up to this number, then at every doubling: a
 * persistent caller must not push older entries out of the log.
 */
export const INDIVIDUAL_REFUSALS = 64;
const REFUSAL_WINDOW_MS = 300_000;
/** Networks tracked for that. */
const MAX_NETWORKS = 10_000;

interface CallerEntry {
  untilMs: number;
  calls: number;
}

interface RefusalCount {
  untilMs: number;
  refusals: number;
  unwritten: number;
}

/** The reason, as far as it is known. */
interface Refusal {
  readonly code: string;
  readonly message: string;
}

const UNKNOWN = "unknown";

/** Success costs one lookup per request; only refusals and first calls create an entry. */
export function auditTrail(sink: AuditSink, { now }: { now(): number }): AuditTrail {
  const callers = new RecentMap<CallerEntry>(MAX_CALLERS);
  const counters = new RecentMap<RefusalCount>(MAX_NETWORKS);
  const recorded = new WeakSet<RequestHead>();

  function note(event: AuditEvent, facts: AuditFacts): void {
    sink.record({ ...facts, at: new Date(now()).toISOString(), event, who: facts.who ?? UNKNOWN });
  }

  function refused(request: RequestHead, refusal: Refusal, caller?: Maybe<Principal>): void {
    recordOnce("refused", request, refusal, caller);
  }

  function recordOnce(event: "refused" | "probed", request: RequestHead, refusal: Refusal, caller?: Maybe<Principal>): void {
    if (recorded.has(request)) return;
    recorded.add(request);
    const { code, message } = refusal;
    const summarised = countRefusal(`${event} ${networkOf(request.connection.remote)} ${code} ${caller?.owner ?? UNKNOWN}`);
    if (summarised === 0) return;
    const calls = summarised === 1 ? undefined : summarised;
    note(event, {
      ...requestFacts(request),
      who: caller?.id,
      scheme: caller?.scheme,
      code,
      face: faceOf(code),
      reason: message,
      calls,
    });
  }

  /** How many refusals a line written now summarises; 0 if none is to be written. */
  function countRefusal(key: string): number {
    const atMs = now();
    const counter = counters.get(key) ?? { untilMs: 0, refusals: 0, unwritten: 0 };
    if (atMs >= counter.untilMs) {
      counter.untilMs = atMs + REFUSAL_WINDOW_MS;
      counter.refusals = 0;
    }
    counter.refusals++;
    const summarised = counter.unwritten + 1;
    const written = counter.refusals <= INDIVIDUAL_REFUSALS || Number.isInteger(Math.log2(counter.refusals));
    counter.unwritten = written ? 0 : summarised;
    counters.set(key, counter);
    return written ? summarised : 0;
  }

  function admitted(request: RequestHead, principal: Principal): void {
    const atMs = now();
    const before = callers.get(principal.owner);
    if (before !== undefined && atMs < before.untilMs) {
      before.calls++;
      return;
    }
    callers.set(principal.owner, { untilMs: atMs + AUTHENTICATED_INTERVAL_MS, calls: 0 });
    const { id: who, scheme } = principal;
    note("authenticated", { ...requestFacts(request), who, scheme, calls: before === undefined ? undefined : before.calls + 1 });
  }

  function recordedOutcome(request: RequestHead, outcome: AdmissionOutcome): AdmissionOutcome {
    admitted(request, admittedOf(outcome).principal);
    return outcome;
  }

  /** Discovery asks before it knows which credentials are needed. Who shows one, or does not ask for itself, is refused. */
  function failed(request: RequestHead, thrown: unknown, claims: Admission["claims"]): never {
    const asksOnly = isProbe(request.headers) && claims !== undefined && !claims(request);
    recordOnce(asksOnly ? "probed" : "refused", request, AgentError.from(thrown));
    throw thrown;
  }

  function relayed(session: Session, { agent, caller: { id, scheme, owner }, claims }: RelayedSessionFacts): void {
    const { request } = session;
    // As many lines as for refusals: whoever opens sessions all the time must not push older entries out of the log.
    const summarised = countRefusal(`relayed ${networkOf(request.connection.remote)} ${owner}`);
    if (summarised === 0) return;
    const facts = { ...requestFacts(request), who: id, scheme, agent };
    let [messages, bytes] = [0, 0];
    const passed = (_frame: unknown, length: number): void => {
      messages++;
      bytes += length;
    };
    const calls = summarised === 1 ? undefined : summarised;
    note("relay.opened", { ...facts, reason: `a sealed session of ${claims}, which is proved to the agent`, calls });
    session.tap({
      received: passed,
      sent: passed,
      ended: ({ code }) =>
        note("relay.ended", { ...facts, reason: `that of ${claims}: ${code} after ${messages} messages, ${bytes} bytes` }),
    });
  }

  async function recordLateRefusal(request: RequestHead, refusal: Refusal): Promise<void> {
    let caller: Maybe<Principal>;
    try {
      caller = (await request.admitted)?.principal;
    } catch {
      // Not authenticated: recorded as `unknown`.
    }
    refused(request, refusal, caller);
  }

  function checkResponse(request: RequestHead, response: HttpResponse): HttpResponse {
    if (isRefusal(response) && !recorded.has(request))
      void recordLateRefusal(request, { code: codeOf(response), message: "refused after admission" });
    return response;
  }

  return {
    note,
    admitted,
    refused,
    relayed,
    admission(admission) {
      const admit: Admission = (head, facts) =>
        mapDecision(
          () => admission(head, facts),
          (outcome) => recordedOutcome(head, outcome),
          (thrown) => failed(head, thrown, admission.claims),
        );
      // The same members: a missing one has a meaning.
      return Object.assign(admit, { ...admission });
    },
    exchange: (exchange) => (request) => {
      const response = exchange(request);
      return response instanceof Promise
        ? response.then((resolved) => checkResponse(request, resolved))
        : checkResponse(request, response);
    },
  };
}

/** Wraps one admission so that its decisions are recorded. */
export function withAudit(admission: HeadAdmission, sink: AuditSink, ids: { now(): number }): HeadAdmission;
export function withAudit(admission: Admission, sink: AuditSink, ids: { now(): number }): Admission;
export function withAudit(admission: Admission, sink: AuditSink, ids: { now(): number }): Admission {
  return auditTrail(sink, ids).admission(admission);
}

/** For `onKeys` of `jwtTokens`: records the changes of an issuer's keys. */
export function auditKeys(sink: AuditSink, issuer: string, ids: { now(): number }): (note: KeyNote) => void {
  return ({ event, reason }) =>
    sink.record({ at: new Date(ids.now()).toISOString(), event, who: issuer, what: "the keys of an issuer", reason });
}

function isRefusal({ status, headers }: HttpResponse): boolean {
  return status === 401 || status === 403 || headers["grpc-status"] === "16" || headers["grpc-status"] === "7";
}

/** A refusal without a code of ours was only an HTTP status. */
function faceOf(code: string): string {
  return isErrorCode(code) ? ERRORS[code].face : "E_HTTP";
}

function codeOf({ status, headers }: HttpResponse): string {
  return status === 401 || headers["grpc-status"] === "16" ? "unauthenticated" : "forbidden";
}

/** Without the query, which may contain keys and tokens. */
function requestFacts({ method, path, headers, connection }: RequestHead): AuditFacts {
  return {
    what: `${method} ${path}`,
    traceId: parseTraceparent(headers["traceparent"])?.traceId,
    remote: connection.remote === "" ? undefined : connection.remote,
  };
}
