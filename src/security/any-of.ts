import { AgentError, type Awaitable, type Security } from "../envelope/index.js";
import type { RequestHead } from "../transport/exchange.js";
import { type Admission, type AdmissionOutcome, describeSecurity, type HeadAdmission, type ProvenPeer } from "./admission.js";
import { mapDecision } from "./map-decision.js";

/**
 * Combines several admissions, checked in order. The first one whose credential is presented decides: a wrong token is refused and
 * never tried as another credential.
 */
export function anyOf(...admissions: readonly HeadAdmission[]): HeadAdmission;
export function anyOf(...admissions: readonly Admission[]): Admission;
export function anyOf(...admissions: readonly Admission[]): Admission {
  if (admissions.length === 0)
    throw new AgentError("invalid_message", "no admission is configured, so every caller would be refused");
  const catchAll = admissions.findIndex(({ claims }) => claims === undefined);
  if (catchAll !== -1 && catchAll < admissions.length - 1)
    throw new AgentError("invalid_message", "an admission that applies to every request must come last");
  const challenges = [...new Set(admissions.flatMap(({ challenge }) => challenge ?? []))];

  /** A refusal lists the challenges of all admissions. */
  function refused(thrown: unknown): AgentError {
    const error = AgentError.from(thrown);
    return error.code === "unauthenticated" ? withChallenges(error, challenges) : error;
  }

  const admit: Admission = (head, facts) => {
    const chosen = admissions.find(({ claims }) => claims === undefined || claims(head));
    if (chosen === undefined) throw withChallenges(noCredential(admissions), challenges);
    return mapDecision(
      () => chosen(head, facts),
      keep,
      (thrown) => {
        throw refused(thrown);
      },
    );
  };
  const identifying = admissions.find(({ identify }) => identify !== undefined);
  return Object.assign(admit, {
    open: admissions.some(({ open }) => open === true),
    security: mergeSecurity(admissions.map(describeSecurity)),
    ...(catchAll === -1 ? { claims: (head: RequestHead) => admissions.some(({ claims }) => claims?.(head) === true) } : {}),
    ...(identifying === undefined
      ? {}
      : { identify: (peer: ProvenPeer): Awaitable<AdmissionOutcome> => identifyWith(identifying, peer) }),
    accepts: describeCredentials(admissions),
    ...(challenges.length === 0 ? {} : { challenge: challenges.join(", ") }),
  });
}

const keep = (outcome: AdmissionOutcome): AdmissionOutcome => outcome;

function identifyWith({ identify }: Admission, peer: ProvenPeer): Awaitable<AdmissionOutcome> {
  if (identify === undefined) throw new AgentError("forbidden", "peers are not admitted by a DID");
  return identify(peer);
}

function noCredential(admissions: readonly Admission[]): AgentError {
  return new AgentError("unauthenticated", `this agent requires ${describeCredentials(admissions)}`);
}

function describeCredentials(admissions: readonly Admission[]): string {
  return [...new Set(admissions.map(({ accepts }) => accepts ?? "other credentials"))].join(", or ");
}

function withChallenges(error: AgentError, challenges: readonly string[]): AgentError {
  const own = error.facts.head?.["www-authenticate"];
  const others = challenges.filter((each) => own === undefined || !own.startsWith(each));
  const all = [...(own === undefined ? [] : [own]), ...others];
  if (all.length === 0) return error;
  return new AgentError(error.code, error.message, {
    ...error.facts,
    head: { ...error.facts.head, "www-authenticate": all.join(", ") },
  });
}

/** Merges schemes and alternatives. Different schemes with the same name are renamed; equal ones are merged. */
export function mergeSecurity(all: readonly Security[]): Security {
  const schemes = new Map<string, Security["schemes"][string]>();
  const alternatives = new Map<string, Security["anyOf"][number]>();
  for (const security of all) {
    const named = new Map(Object.entries(security.schemes).map(([name, scheme]) => [name, addScheme(schemes, name, scheme)]));
    for (const alternative of security.anyOf) {
      const renamed = Object.fromEntries(Object.entries(alternative).map(([name, scopes]) => [named.get(name) ?? name, scopes]));
      alternatives.set(JSON.stringify(renamed), renamed);
    }
    // An open admission adds the empty requirement as an alternative.
    if (security.anyOf.length === 0 && all.length > 1) alternatives.set("{}", {});
  }
  return { schemes: Object.fromEntries(schemes), anyOf: [...alternatives.values()] };
}

function addScheme(schemes: Map<string, Security["schemes"][string]>, name: string, scheme: Security["schemes"][string]): string {
  const text = JSON.stringify(scheme);
  for (let index = 1; ; index++) {
    const candidate = index === 1 ? name : `${name}${index}`;
    const existing = schemes.get(candidate);
    if (existing === undefined) schemes.set(candidate, scheme);
    if (existing === undefined || JSON.stringify(existing) === text) return candidate;
  }
}
