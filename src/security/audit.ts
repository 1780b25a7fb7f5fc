import { AgentError, type Maybe, type Principal, parseTraceparent, RecentMap } from "../envelope/index.js";
import type { Exchange, HttpRequest, HttpResponse } from "../transport/exchange.js";
import { networkOf } from "./address.js";
import type { Admission } from "./admission.js";
import type { AuditEntry, AuditEvent } from "./audit-entry.js";
import type { KeyNote } from "./jwt-keys.js";

/** Where decisions go. `record` never throws and never waits. */
export interface AuditSink {
  record(entry: AuditEntry): void;
  /** Everything that was recorded is out, or counted as lost. */
  close(): Promise<void>;
}

/** What else is known about an event. */
export type AuditFacts = Omit<AuditEntry, "at" | "event" | "who"> & { readonly who?: Maybe<string> };

/** The decisions of one host on their way into a sink. */
export interface AuditTrail {
  /** The same admission, with its decisions recorded. */
  admission(admission: Admission): Admission;
  /** The same exchange, with refusals recorded that were decided behind the admission, such as a foreign tenant. */
  exchange(exchange: Exchange): Exchange;
  refused(request: HttpRequest, error: AgentError): void;
  note(event: AuditEvent, facts: AuditFacts): void;
}

/** A caller that keeps calling is written down again this often, with the number of calls in between. */
export const AUTHENTICATED_AGAIN_MS = 300_000;
/** Callers that are remembered for that; one that was forgotten is only written down sooner. */
const MAX_CALLERS = 10_000;

/**
 * Refusals of one kind from one network within five minutes are written down one by one up to here, then at every doubling of
 * their number: whoever keeps asking must not push out of the log what came before.
 */
export const REFUSALS_ONE_BY_ONE = 64;
const REFUSED_ANEW_MS = 300_000;
/** Networks that are remembered for that. */
const MAX_NETWORKS = 10_000;

interface Seen {
  untilMs: number;
  calls: number;
}

interface Flood {
  untilMs: number;
  refusals: number;
  unwritten: number;
}

/** Why, as far as it is known. */
interface Refusal {
  readonly code: string;
  readonly message: string;
}

const UNKNOWN = "unknown";

/** Success costs one lookup per request; only refusals and first sights make an entry. */
export function auditTrail(sink: AuditSink, { now }: { now(): number }): AuditTrail {
  const seen = new RecentMap<Seen>(MAX_CALLERS);
  const floods = new RecentMap<Flood>(MAX_NETWORKS);
  const recorded = new WeakSet<HttpRequest>();
  let whoIs: Maybe<Admission>;

  function note(event: AuditEvent, facts: AuditFacts): void {
    sink.record({ ...facts, at: new Date(now()).toISOString(), event, who: facts.who ?? UNKNOWN });
  }

  function refused(request: HttpRequest, { code, message }: Refusal, caller?: Principal): void {
    if (recorded.has(request)) return;
    recorded.add(request);
    const standsFor = countRefusal(`${networkOf(request.connection.remote)} ${code} ${caller?.owner ?? UNKNOWN}`);
    if (standsFor === 0) return;
    const calls = standsFor === 1 ? undefined : standsFor;
    note("refused", { ...requestFacts(request), who: caller?.id, scheme: caller?.scheme, code, reason: message, calls });
  }

  /** How many refusals a line written now stands for; 0 when none is to be written. */
  function countRefusal(key: string): number {
    const atMs = now();
    const flood = floods.get(key) ?? { untilMs: 0, refusals: 0, unwritten: 0 };
    if (atMs >= flood.untilMs) {
      flood.untilMs = atMs + REFUSED_ANEW_MS;
      flood.refusals = 0;
    }
    flood.refusals++;
    const standsFor = flood.unwritten + 1;
    const written = flood.refusals <= REFUSALS_ONE_BY_ONE || Number.isInteger(Math.log2(flood.refusals));
    flood.unwritten = written ? 0 : standsFor;
    floods.set(key, flood);
    return written ? standsFor : 0;
  }

  function admitted(request: HttpRequest, principal: Principal): Principal {
    const atMs = now();
    const before = seen.get(principal.owner);
    if (before !== undefined && atMs < before.untilMs) {
      before.calls++;
      return principal;
    }
    seen.set(principal.owner, { untilMs: atMs + AUTHENTICATED_AGAIN_MS, calls: 0 });
    const { id: who, scheme } = principal;
    note("authenticated", { ...requestFacts(request), who, scheme, calls: before === undefined ? undefined : before.calls + 1 });
    return principal;
  }

  function failed(request: HttpRequest, thrown: unknown): never {
    refused(request, AgentError.from(thrown));
    throw thrown;
  }

  /** Who was admitted and then refused is asked once more: that is rare, and remembering every caller would not be. */
  async function refusedLater(request: HttpRequest, refusal: Refusal): Promise<void> {
    let caller: Maybe<Principal>;
    try {
      caller = await whoIs?.(request);
    } catch {
      // Nobody we know: `unknown` is the answer.
    }
    refused(request, refusal, caller);
  }

  function answered(request: HttpRequest, response: HttpResponse): HttpResponse {
    if (isRefusal(response) && !recorded.has(request))
      void refusedLater(request, { code: codeOf(response), message: "refused behind the admission" });
    return response;
  }

  return {
    note,
    refused,
    admission(admission) {
      whoIs = admission;
      const { open, security, claims, accepts, challenge } = admission;
      function admit(request: HttpRequest): Principal | Promise<Principal> {
        try {
          const principal = admission(request);
          if (!(principal instanceof Promise)) return admitted(request, principal);
          return principal.then(
            (found) => admitted(request, found),
            (thrown: unknown) => failed(request, thrown),
          );
        } catch (thrown) {
          return failed(request, thrown);
        }
      }
      const known = { open, security, claims, accepts, challenge };
      return Object.assign(admit, Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)));
    },
    exchange: (exchange) => (request) => {
      const response = exchange(request);
      return response instanceof Promise ? response.then((whole) => answered(request, whole)) : answered(request, response);
    },
  };
}

/** One admission with its decisions recorded. */
export function withAudit(admission: Admission, sink: AuditSink, ids: { now(): number }): Admission {
  return auditTrail(sink, ids).admission(admission);
}

/** For `onKeys` of `jwtTokens`: what happens to an issuer's keys goes into the log too. */
export function auditKeys(sink: AuditSink, issuer: string, ids: { now(): number }): (note: KeyNote) => void {
  return ({ event, reason }) =>
    sink.record({ at: new Date(ids.now()).toISOString(), event, who: issuer, what: "the keys of an issuer", reason });
}

function isRefusal({ status, headers }: HttpResponse): boolean {
  return status === 401 || status === 403 || headers["grpc-status"] === "16" || headers["grpc-status"] === "7";
}

function codeOf({ status, headers }: HttpResponse): string {
  return status === 401 || headers["grpc-status"] === "16" ? "unauthenticated" : "forbidden";
}

/** The path without its query: keys and tokens travel there. */
function requestFacts({ method, path, headers, connection }: HttpRequest): AuditFacts {
  return {
    what: `${method} ${path}`,
    traceId: parseTraceparent(headers["traceparent"])?.traceId,
    remote: connection.remote === "" ? undefined : connection.remote,
  };
}
