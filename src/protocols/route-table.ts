import { AgentError } from "../envelope/index.js";
import type { Exchange, HttpRequest } from "../transport/exchange.js";
import type { Route } from "./protocol.js";

/** A route with its owner and its handler. */
export interface Claim {
  readonly owner: string;
  readonly route: Route;
  readonly exchange: Exchange;
}

/** The compiled routes of all protocols. */
export interface RouteTable {
  find(request: HttpRequest): Exchange | undefined;
  /** The methods that are served at a path, for `405 Method Not Allowed`. */
  methodsAt(path: string): readonly string[];
  /** Whether any route can match this path, by whatever method. */
  claims(path: string): boolean;
}

const rankOf = (claim: Claim): number => claim.route.rank ?? 0;

/** Compiles the routes of all protocols. Throws if two of them can match the same request at the same rank. */
export function compileRoutes(claims: readonly Claim[]): RouteTable {
  rejectOverlaps(claims);
  const byRank = [...claims].sort((a, b) => rankOf(b) - rankOf(a));
  const exact = new Map<string, Claim[]>();
  const below: { readonly prefix: string; readonly claim: Claim }[] = [];
  for (const claim of byRank) {
    const { path } = claim.route;
    if (path.endsWith("/*")) below.push({ prefix: path.slice(0, -1), claim });
    else exact.set(path, [...(exact.get(path) ?? []), claim]);
  }
  return {
    find(request) {
      const literal = exact.get(request.path);
      if (literal !== undefined) for (const claim of literal) if (answers(claim, request)) return claim.exchange;
      for (const { prefix, claim } of below)
        if (request.path.startsWith(prefix) && answers(claim, request)) return claim.exchange;
      return undefined;
    },
    methodsAt: (path) => [...new Set(exact.get(path)?.map(({ route }) => route.method))],
    claims: (path) => exact.has(path) || below.some(({ prefix }) => path.startsWith(prefix)),
  };
}

function answers({ route }: Claim, request: HttpRequest): boolean {
  return (route.method === request.method || route.method === "*") && (route.when === undefined || route.when(request));
}

function rejectOverlaps(claims: readonly Claim[]): void {
  for (const [index, a] of claims.entries()) {
    for (const b of claims.slice(index + 1)) {
      if (rankOf(a) !== rankOf(b) || !methodsOverlap(a.route, b.route) || !pathsOverlap(a.route.path, b.route.path)) continue;
      const both = `${a.route.method} ${a.route.path} (${a.owner}) and ${b.route.method} ${b.route.path} (${b.owner})`;
      throw new AgentError("conflict", `two routes can match one request at rank ${rankOf(a)}: ${both}; give one a higher rank`);
    }
  }
}

const methodsOverlap = (a: Route, b: Route): boolean => a.method === "*" || b.method === "*" || a.method === b.method;

/** Whether one path can match both patterns. */
export function pathsOverlap(a: string, b: string): boolean {
  if (a.endsWith("/*")) return pathBelow(b, a.slice(0, -1));
  if (b.endsWith("/*")) return pathBelow(a, b.slice(0, -1));
  return a === b;
}

function pathBelow(path: string, prefix: string): boolean {
  return path.endsWith("/*") ? path.startsWith(prefix) || prefix.startsWith(path.slice(0, -1)) : path.startsWith(prefix);
}
