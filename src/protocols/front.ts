import { AgentError, type Interface, isObject, type JsonObject, type Maybe } from "../envelope/index.js";
import type { Exchange, HttpRequest, HttpResponse } from "../transport/exchange.js";
import { makeRequest } from "../transport/request.js";
import { errorResponse } from "../transport/response.js";
import { documentResponse } from "./document.js";
import type { Contribution, Host, Protocol, Route, Served } from "./protocol.js";
import { type Claim, compileRoutes } from "./route-table.js";

/** A route that belongs to no protocol: metrics, artifacts. */
export interface ExtraRoute {
  readonly route: Route;
  readonly exchange: Exchange;
}

/** All protocols of a host behind one HTTP handler. */
export interface Front {
  readonly exchange: Exchange;
  /** Whether a route of this host matches the path, by whatever method. */
  claims(path: string): boolean;
  /** The interfaces at which an agent is served. Cards list these. */
  interfaces(agent: string, publicUrl: string): readonly Interface[];
  /** Undefined if no protocol of this host has push notifications. */
  readonly notify: Maybe<NonNullable<Served["notify"]>>;
}

/** Documents shared by all protocols. Each protocol can add members. */
const SHARED_DOCUMENTS = ["/health", "/.well-known/agent.json"] as const;
/** Below the rank of every protocol route, so that a protocol can take over a shared path. */
const SHARED_RANK = -100;

/** Serves the host in all given protocols, with the shared documents and extra routes. */
export function front(host: Host, protocols: readonly Protocol[], extraRoutes: readonly ExtraRoute[] = []): Front {
  const mounted = protocols.map((protocol) => ({ protocol, served: protocol.serve(host) }));
  const contributions = mounted.flatMap(({ served }) => served.contributions ?? []);
  const claims: Claim[] = [
    ...mounted.flatMap(({ protocol, served }) =>
      protocol.routes.map((route) => ({ owner: protocol.id, route, exchange: served.exchange })),
    ),
    ...extraRoutes.map(({ route, exchange }) => ({ owner: "shared routes", route, exchange })),
    ...SHARED_DOCUMENTS.flatMap((path) => documentClaims(path, host, mounted, contributions)),
  ];
  const table = compileRoutes(claims);

  function exchange(request: HttpRequest): HttpResponse | Promise<HttpResponse> {
    const found = table.find(request);
    if (found !== undefined) return found(request);
    const methods = table.methodsAt(request.path);
    return methods.length > 0 ? methodNotAllowed(request, methods) : notFound(request);
  }

  return {
    exchange,
    claims: (path) => table.claims(path),
    interfaces: (agent, publicUrl) => mounted.flatMap(({ served }) => served.interfaces(agent, publicUrl)),
    notify: notifierOf(mounted),
  };
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

function documentClaims(path: string, host: Host, mounted: readonly Mounted[], all: readonly Contribution[]): Claim[] {
  const contributions = all.filter((contribution) => contribution.path === path);
  const base = path === "/health" ? health(host, mounted) : undefined;
  if (base === undefined && contributions.length === 0) return [];
  const vary = [...new Set(contributions.flatMap((contribution) => contribution.vary))].join(", ");

  const whole = contributions.find((each) => each.whole === true);
  const membersFor = (request: HttpRequest): JsonObject =>
    whole?.members(request) ??
    mergeMembers(path, [...(base === undefined ? [] : [base()]), ...contributions.map((each) => each.members(request))]);
  // Detects conflicts at start instead of on the first request.
  membersFor(makeRequest({ method: "GET", url: `http://localhost${path}`, headers: { host: "localhost" } }));
  const exchange = (request: HttpRequest): HttpResponse => documentResponse(request, membersFor(request), vary);
  return ["GET", "HEAD"].map((method) => ({ owner: "shared routes", route: { method, path, rank: SHARED_RANK }, exchange }));
}

function health(host: Host, mounted: readonly Mounted[]): () => JsonObject {
  return () => ({
    status: "ok",
    agents: host.cards().map(({ name }) => name),
    protocols: mounted.map(({ protocol }) => ({ id: protocol.id, versions: protocol.versions })),
  });
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
        throw new AgentError("conflict", `two protocols write ${name} of ${path} as ${typeOf(existing)} and as ${typeOf(value)}`);
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

function methodNotAllowed(request: HttpRequest, allowed: readonly string[]): HttpResponse {
  const error = new AgentError("not_found", `${request.method} is not allowed at ${request.path}; use ${allowed.join(", ")}`);
  return errorResponse(405, error, { allow: allowed.join(", ") });
}

function notFound(request: HttpRequest): HttpResponse {
  return errorResponse(404, new AgentError("not_found", `nothing answers ${request.method} ${request.path}`));
}
