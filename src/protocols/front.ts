import {
  AgentError,
  type Awaitable,
  type Envelope,
  type Interface,
  isObject,
  isProtected,
  type JsonObject,
  type Maybe,
} from "../envelope/index.js";
import type { Exchange, HttpRequest, HttpResponse, Intake, RequestHead } from "../transport/exchange.js";
import { makeRequest } from "../transport/request.js";
import { errorResponse } from "../transport/response.js";
import { documentResponse } from "./document.js";
import { finished } from "./finish-response.js";
import { HEALTH, healthClaims, SHARED_RANK } from "./health-routes.js";
import type { FrontHost, HealthSource } from "./host.js";
import { type Answer, type FrontIntake, frontIntake } from "./intake.js";
import { cannotCarry, keepAnswerProtection } from "./keep-protection.js";
import type { Contribution, Host, Protocol, Route, Served } from "./protocol.js";
import { type Claim, claimOf, compileRoutes } from "./route-table.js";
import type { IntakeObserver } from "./session-intake.js";

/** A route that belongs to no protocol: metrics, artifacts. */
export interface ExtraRoute {
  readonly route: Route;
  /**
   * `operator`: shows what belongs to all callers, so it is served by the admin listener only, with its token. `anybody`: the admin
   * listener serves it without. Default: it authenticates itself; on the admin listener the token is required too.
   */
  readonly access?: Maybe<"operator" | "anybody">;
  exchange(request: HttpRequest, host: Pick<Host, "admit">): Awaitable<HttpResponse>;
}

/** All protocols of a host behind one HTTP handler: it decides by the head of a request who may send a body and a session. */
export interface Front extends Required<Intake>, Pick<FrontIntake, "isHealthCheck"> {
  /** Closes every session as soon as no call runs in it. */
  retire(): void;
  /** Answers a complete request. */
  readonly exchange: Exchange;
  /** Whether a route of this host matches the path, by whatever method. */
  claims(path: string): boolean;
  /** The protocols that are served, for operators. */
  details(): JsonObject;
  /** The interfaces at which an agent is served. Cards list these. */
  interfaces(agent: string, publicUrl: string): readonly Interface[];
  /** Undefined if no protocol of this host has push notifications. */
  readonly notify: Maybe<NonNullable<Served["notify"]>>;
  /** Sends a message to an owner with an open session. Throws `unavailable` if no protocol has one. */
  say(owner: string, envelope: Envelope): Promise<void>;
  /** Releases what the protocols hold. */
  close(): Promise<void>;
}

const HEALTHY: JsonObject = Object.freeze({ status: "ok" });

/** What sees every request and session of a host. */
export interface FrontObserver extends IntakeObserver {
  exchange(exchange: Exchange): Exchange;
}

const UNOBSERVED: FrontObserver = {
  exchange: (exchange) => exchange,
  session: () => undefined,
  identified: () => undefined,
  refused: () => undefined,
};

/** Serves the host in all given protocols, with the shared documents and extra routes. */
export function front(
  host: FrontHost,
  protocols: readonly Protocol[],
  extraRoutes: readonly ExtraRoute[] = [],
  observer: FrontObserver = UNOBSERVED,
): Front {
  refuseOperatorRoutes(extraRoutes);
  const guarded = protocols.reduce(guardMessages, host);
  const mounted = protocols.map((protocol) => ({ protocol, served: protocol.serve(keepAnswerProtection(guarded, protocol)) }));
  const contributions = [
    ...host.contributions.map((contribution) => ({ ...contribution, owner: "the server" })),
    ...mounted.flatMap(({ protocol, served }) =>
      (served.contributions ?? []).map((contribution) => ({ ...contribution, owner: protocol.id })),
    ),
  ];
  const claims: Claim[] = [
    ...mounted.flatMap(({ protocol, served }) =>
      protocol.routes.map((route) => ({
        owner: protocol.id,
        route: served.proves?.(route) === false ? { ...route, proves: false } : route,
        ownsPath: served.ownsPath?.(route) ?? true,
        exchange: served.exchange,
        accept: served.accept?.bind(served),
      })),
    ),
    ...extraRoutes.map(({ route, exchange }) => ({
      owner: "shared routes",
      route,
      exchange: (request: HttpRequest) => exchange(request, host),
    })),
  ];
  // `/health` is served by every host. Protocols can add members to it, and contribute to any other path.
  for (const path of new Set([HEALTH, ...contributions.map((each) => each.path)])) {
    const added = contributions.filter((each) => each.path === path);
    refuseUnserved(path, added, claims);
    claims.push(...documentClaims(path, added, host.health));
  }
  for (const { owner, route, accept } of claims) {
    if (route.upgrade !== undefined && accept === undefined)
      throw new AgentError("conflict", `${owner} has a session route at ${route.path}, but accepts no sessions`);
  }
  const table = compileRoutes(claims.map((claim) => ({ ...claim, exchange: finished(observer.exchange(claim.exchange)) })));
  const answer: Answer = (found, request) => claimOf(found, request)?.exchange(request) ?? noRoute(request);
  const noRoute = finished(
    observer.exchange((request) => {
      const methods = table.methodsAt(request.path);
      return methods.length > 0 ? methodNotAllowed(request, methods) : notFound(request);
    }),
  );

  return {
    ...frontIntake({ host, table, answer, observer }),
    exchange: (request) => answer(table.find(request), request),
    claims: (path) => table.claims(path),
    details: () => detailsOf(mounted),
    interfaces: (agent, publicUrl) => mounted.flatMap(({ served }) => served.interfaces(agent, publicUrl)),
    notify: notifierOf(mounted),
    say: (owner, envelope) => say(mounted, owner, envelope),
    async close() {
      await Promise.all(mounted.map(async ({ served }) => served.close?.()));
    },
  };
}

function guardMessages(host: FrontHost, protocol: Protocol): FrontHost {
  return protocol.guardMessages === undefined ? host : { ...host, handler: protocol.guardMessages(host) };
}

/** By the first protocol in which the owner has an open session. */
async function say(mounted: readonly Mounted[], owner: string, envelope: Envelope): Promise<void> {
  let refused: Maybe<AgentError>;
  for (const { protocol, served } of mounted) {
    if (served.say === undefined) continue;
    if (!protocol.traits.proofs && isProtected(envelope)) {
      refused ??= cannotCarry(protocol.id, "the message");
      continue;
    }
    try {
      return await served.say(owner, envelope);
    } catch (thrown) {
      const error = AgentError.from(thrown);
      if (error.code !== "unavailable" || error.facts.sent !== "no") throw error;
    }
  }
  throw refused ?? new AgentError("unavailable", "this caller has no open session", { sent: "no" });
}

/** Notifies a webhook in the protocol that registered it, or else in the first protocol with push notifications. */
function notifierOf(mounted: readonly Mounted[]): Front["notify"] {
  const able = mounted.flatMap(({ protocol, served }) =>
    served.notify === undefined ? [] : [{ id: protocol.id, notify: served.notify.bind(served) }],
  );
  const [first] = able;
  if (first === undefined) return undefined;
  return (event, config, task) => {
    const { notify } = able.find(({ id }) => id === config.via?.protocol) ?? first;
    return notify(event, config, task);
  };
}

type Mounted = { readonly protocol: Protocol; readonly served: Served };

type Contributed = Contribution & { readonly owner: string };

/** A document that no request could reach, or that two protocols define completely, is an error at start. */
function refuseUnserved(path: string, contributions: readonly Contributed[], claims: readonly Claim[]): void {
  const owners = contributions.map(({ owner }) => owner).join(" and ");
  const pattern = contributions.some(({ has }) => has !== undefined) ? path.replace(/\/\*$/, "") : path;
  if (!path.startsWith("/") || pattern.includes("*"))
    throw new AgentError("conflict", `${owners} contributes to ${JSON.stringify(path)}, which is not a path`);
  const other = claims.find(
    ({ route }) => route.path === path && route.method === "GET" && route.when === undefined && route.upgrade === undefined,
  );
  if (other !== undefined && contributions.length > 0)
    throw new AgentError(
      "conflict",
      `${owners} contributes to ${path}, but a route of ${other.owner} answers all requests there`,
    );
  const complete = contributions.filter(({ whole }) => whole === true).map(({ owner }) => owner);
  if (complete.length > 1) throw new AgentError("conflict", `${complete.join(" and ")} each define the complete ${path}`);
}

function documentClaims(path: string, contributions: readonly Contributed[], health: HealthSource): readonly Claim[] {
  const vary = [...new Set(contributions.flatMap((contribution) => contribution.vary))].join(", ");

  const complete = contributions.find((each) => each.whole === true);
  const merged = (request: HttpRequest, ...base: readonly JsonObject[]): JsonObject =>
    mergeMembers(path, [...base, ...contributions.map((each) => membersNow(each, request))]);
  const isHealth = path === HEALTH;
  // Detects conflicts at start instead of on the first request.
  const sample = makeRequest({ method: "GET", url: `http://localhost${path}`, headers: { host: "localhost" } });
  if (complete === undefined || isHealth) merged(sample, ...(isHealth ? [HEALTHY] : []));
  if (isHealth) return healthClaims(health, merged);
  const exchange = (request: HttpRequest): Awaitable<HttpResponse> => {
    const members = complete?.members(request) ?? merged(request);
    const respond = (document: JsonObject): HttpResponse => documentResponse(request, document, vary);
    return members instanceof Promise ? members.then(respond) : respond(members);
  };
  // Documents that come and go are looked for last: their pattern may match the path of another one.
  const has = complete?.has;
  const route = has === undefined ? { path, rank: SHARED_RANK } : { path, rank: SHARED_RANK - 1, has };
  return ["GET", "HEAD"].map((method) => ({ owner: "shared routes", route: { method, ...route }, exchange }));
}

/** What is merged with the members of others must be there at once. */
function membersNow({ path, owner, members }: Contributed, request: HttpRequest): JsonObject {
  const found = members(request);
  if (!(found instanceof Promise)) return found;
  found.catch(() => undefined);
  throw new AgentError("conflict", `${owner} adds late members to ${path}, which is not its own document`);
}

function detailsOf(mounted: readonly Mounted[]): JsonObject {
  return {
    protocols: mounted.map(({ protocol }) => ({ id: protocol.id, versions: protocol.versions })),
  };
}

/** A socket says nothing about who is behind a proxy: the operator's routes are never on the callers' port without their token. */
function refuseOperatorRoutes(extraRoutes: readonly ExtraRoute[]): void {
  const found = extraRoutes.find(({ access }) => access === "operator");
  if (found !== undefined)
    throw new AgentError(
      "conflict",
      `${found.route.method} ${found.route.path} belongs to the operator: give it in admin.routes of serve, not in routes`,
      { field: "routes" },
    );
}

/**
 * Merges the members of several protocols into one document. Objects are merged recursively; of other values the first wins.
 * Throws if two protocols use the same name with different types.
 */
export function mergeMembers(path: string, all: readonly JsonObject[]): JsonObject {
  const merged = new Map<string, JsonObject[string]>();
  for (const members of all) {
    for (const [name, value] of Object.entries(members)) {
      const existing = merged.get(name);
      if (existing !== undefined && typeOf(existing) !== typeOf(value)) {
        throw new AgentError(
          "conflict",
          `two protocols define ${name} of ${path}, as ${typeOf(existing)} and as ${typeOf(value)}`,
        );
      }
      if (existing === undefined) merged.set(name, value);
      else if (isObject(existing) && isObject(value)) merged.set(name, mergeMembers(`${name} of ${path}`, [existing, value]));
    }
  }
  return Object.fromEntries(merged);
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
}

function methodNotAllowed(request: RequestHead, allowed: readonly string[]): HttpResponse {
  const error = new AgentError("not_found", `${request.method} is not allowed at ${request.path}; use ${allowed.join(", ")}`);
  return errorResponse(405, error, { allow: allowed.join(", ") });
}

function notFound(request: RequestHead): HttpResponse {
  if (request.headers["content-type"]?.startsWith("application/grpc") === true) return unknownService(request);
  return errorResponse(404, new AgentError("not_found", `No route for ${request.method} ${request.path}`));
}

/** A client of gRPC reads the status of the call, not that of HTTP: 12 is UNIMPLEMENTED. */
function unknownService({ path }: RequestHead): HttpResponse {
  const message = encodeURIComponent(`unknown service ${path.slice(1, 129)}`);
  return {
    status: 200,
    headers: { "content-type": "application/grpc", "grpc-status": "12", "grpc-message": message },
    body: undefined,
  };
}
