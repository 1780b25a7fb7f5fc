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

export interface Front {
  readonly exchange: Exchange;
  /** The addresses the port really answers at, for one agent: what cards are made from. */
  interfaces(agent: string, publicUrl: string): readonly Interface[];
  /** Undefined where no protocol of this host knows push notifications. */
  readonly notify: Maybe<NonNullable<Served["notify"]>>;
}

/** The documents of the house; protocols add members to them. */
const HOUSE_DOCUMENTS = ["/health", "/.well-known/agent.json"] as const;
/** The house speaks last: a protocol that wants one of its paths takes a higher rank. */
const HOUSE_RANK = -100;

/** One exchange that answers for the host in every given protocol. */
export function front(host: Host, protocols: readonly Protocol[], house: readonly ExtraRoute[] = []): Front {
  const doors = protocols.map((protocol) => ({ protocol, served: protocol.serve(host) }));
  const contributions = doors.flatMap(({ served }) => served.contributions ?? []);
  const claims: Claim[] = [
    ...doors.flatMap(({ protocol, served }) =>
      protocol.routes.map((route) => ({ owner: protocol.id, route, exchange: served.exchange })),
    ),
    ...house.map(({ route, exchange }) => ({ owner: "the house", route, exchange })),
    ...HOUSE_DOCUMENTS.flatMap((path) => documentClaims(path, host, doors, contributions)),
  ];
  const table = compileRoutes(claims);

  function exchange(request: HttpRequest): HttpResponse | Promise<HttpResponse> {
    const found = table.find(request);
    if (found !== undefined) return found(request);
    const methods = table.methodsAt(request.path);
    return methods.length > 0 ? methodNotAllowed(request, methods) : nobodyHere(request);
  }

  return {
    exchange,
    interfaces: (agent, publicUrl) => doors.flatMap(({ served }) => served.interfaces(agent, publicUrl)),
    notify: notifierOf(doors),
  };
}

/** A webhook is told in the protocol that registered it; one that was registered in process, in the first that can. */
function notifierOf(doors: readonly Door[]): Front["notify"] {
  const able = doors.flatMap(({ protocol, served }) =>
    served.notify === undefined ? [] : [{ id: protocol.id, notify: served.notify.bind(served) }],
  );
  const [first] = able;
  if (first === undefined) return undefined;
  return (event, config, task) => {
    const { notify } = able.find(({ id }) => id === config.via?.protocol) ?? first;
    return notify(event, config, task);
  };
}

type Door = { readonly protocol: Protocol; readonly served: Served };

function documentClaims(path: string, host: Host, doors: readonly Door[], all: readonly Contribution[]): Claim[] {
  const contributions = all.filter((contribution) => contribution.path === path);
  const base = path === "/health" ? health(host, doors) : undefined;
  if (base === undefined && contributions.length === 0) return [];
  const vary = [...new Set(contributions.flatMap((contribution) => contribution.vary))].join(", ");

  const whole = contributions.find((each) => each.whole === true);
  const membersFor = (request: HttpRequest): JsonObject =>
    whole?.members(request) ??
    mergeMembers(path, [...(base === undefined ? [] : [base()]), ...contributions.map((each) => each.members(request))]);
  // A clash is found here, at start, and not by the first who asks.
  membersFor(makeRequest({ method: "GET", url: `http://localhost${path}`, headers: { host: "localhost" } }));
  const exchange = (request: HttpRequest): HttpResponse => documentResponse(request, membersFor(request), vary);
  return ["GET", "HEAD"].map((method) => ({ owner: "the house", route: { method, path, rank: HOUSE_RANK }, exchange }));
}

function health(host: Host, doors: readonly Door[]): () => JsonObject {
  return () => ({
    status: "ok",
    agents: host.cards().map(({ name }) => name),
    protocols: doors.map(({ protocol }) => ({ id: protocol.id, versions: protocol.versions })),
  });
}

/**
 * Members of several protocols in one document: objects are merged member by member, of anything else the first stays.
 * The same name with another type of value is a clash nobody can read.
 */
export function mergeMembers(path: string, all: readonly JsonObject[]): JsonObject {
  const merged = new Map<string, JsonObject[string]>();
  for (const members of all) {
    for (const [name, value] of Object.entries(members)) {
      const before = merged.get(name);
      if (before !== undefined && shapeOf(before) !== shapeOf(value)) {
        throw new AgentError("conflict", `two protocols write ${name} of ${path} as ${shapeOf(before)} and as ${shapeOf(value)}`);
      }
      if (before === undefined) merged.set(name, value);
      else if (isObject(before) && isObject(value)) merged.set(name, mergeMembers(`${name} of ${path}`, [before, value]));
    }
  }
  return Object.fromEntries(merged);
}

function shapeOf(value: unknown): string {
  return Array.isArray(value) ? "array" : value === null ? "null" : typeof value;
}

function methodNotAllowed(request: HttpRequest, allowed: readonly string[]): HttpResponse {
  const error = new AgentError("not_found", `${request.method} is not answered at ${request.path}; try ${allowed.join(", ")}`);
  return errorResponse(405, error, { allow: allowed.join(", ") });
}

function nobodyHere(request: HttpRequest): HttpResponse {
  return errorResponse(404, new AgentError("not_found", `nothing answers ${request.method} ${request.path}`));
}
