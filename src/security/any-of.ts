import { AgentError, type Principal, type Security } from "../envelope/index.js";
import type { HttpRequest } from "../transport/exchange.js";
import { type Admission, describeSecurity } from "./admission.js";

/**
 * Several ways in, asked in order. The first whose credential is presented decides alone: a wrong token is refused, never
 * tried as something else.
 */
export function anyOf(...admissions: readonly Admission[]): Admission {
  if (admissions.length === 0) throw new AgentError("invalid_message", "no admission is given, so nobody could get in");
  const greedy = admissions.findIndex(({ claims }) => claims === undefined);
  if (greedy !== -1 && greedy < admissions.length - 1)
    throw new AgentError("invalid_message", "an admission that judges every request must be the last of several");
  const challenges = [...new Set(admissions.flatMap(({ challenge }) => challenge ?? []))];

  /** Whoever was refused by one way hears about all of them. */
  function refused(thrown: unknown): AgentError {
    const error = AgentError.from(thrown);
    return error.code === "unauthenticated" ? withChallenges(error, challenges) : error;
  }

  function admit(request: HttpRequest): Principal | Promise<Principal> {
    const chosen = admissions.find(({ claims }) => claims === undefined || claims(request));
    if (chosen === undefined) throw withChallenges(nothingPresented(admissions), challenges);
    try {
      const admitted = chosen(request);
      return admitted instanceof Promise ? admitted.catch((thrown: unknown) => Promise.reject(refused(thrown))) : admitted;
    } catch (thrown) {
      throw refused(thrown);
    }
  }
  return Object.assign(admit, {
    open: admissions.some(({ open }) => open === true),
    security: mergeSecurity(admissions.map(describeSecurity)),
    ...(greedy === -1 ? { claims: (request: HttpRequest) => admissions.some(({ claims }) => claims?.(request) === true) } : {}),
    accepts: wordsFor(admissions),
    ...(challenges.length === 0 ? {} : { challenge: challenges.join(", ") }),
  });
}

function nothingPresented(admissions: readonly Admission[]): AgentError {
  return new AgentError("unauthenticated", `this agent needs ${wordsFor(admissions)}`);
}

function wordsFor(admissions: readonly Admission[]): string {
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

/** All schemes and all alternatives. Two schemes of one name that differ get names of their own; two that are the same are one. */
export function mergeSecurity(all: readonly Security[]): Security {
  const schemes = new Map<string, Security["schemes"][string]>();
  const alternatives = new Map<string, Security["anyOf"][number]>();
  for (const security of all) {
    const named = new Map(Object.entries(security.schemes).map(([name, scheme]) => [name, place(schemes, name, scheme)]));
    for (const alternative of security.anyOf) {
      const renamed = Object.fromEntries(Object.entries(alternative).map(([name, scopes]) => [named.get(name) ?? name, scopes]));
      alternatives.set(JSON.stringify(renamed), renamed);
    }
    // Whoever lets everybody in demands nothing, and says so beside the others.
    if (security.anyOf.length === 0 && all.length > 1) alternatives.set("{}", {});
  }
  return { schemes: Object.fromEntries(schemes), anyOf: [...alternatives.values()] };
}

function place(schemes: Map<string, Security["schemes"][string]>, name: string, scheme: Security["schemes"][string]): string {
  const text = JSON.stringify(scheme);
  for (let index = 1; ; index++) {
    const candidate = index === 1 ? name : `${name}${index}`;
    const there = schemes.get(candidate);
    if (there === undefined) schemes.set(candidate, scheme);
    if (there === undefined || JSON.stringify(there) === text) return candidate;
  }
}
