import { AgentError } from "../envelope/index.js";
import type { Exchange, HttpRequest, RequestHead, Session } from "../transport/exchange.js";
import type { Route } from "./protocol.js";

/** A route with its owner and its handler. */
export interface Claim {
  readonly owner: string;
  readonly route: Route;
  readonly exchange: Exchange;
  /** False: requests there are answered, but the path is claimed only if another route claims it. Default: true. */
  readonly ownsPath?: boolean | undefined;
  /** Runs the sessions of a route with `upgrade`. */
  readonly accept?: ((session: Session) => Promise<void>) | undefined;
}

/** The compiled routes of all protocols. */
export interface RouteTable {
  /** The routes that match the head, in order; only the last has no `whose`. Empty if none matches. */
  find(head: RequestHead): readonly Claim[];
  /** The route that accepts a session. */
  findUpgrade(head: RequestHead): Claim | undefined;
  /** The methods that are served at a path, for `405 Method Not Allowed`. */
  methodsAt(path: string): readonly string[];
  /** Whether any route can match this path, by whatever method. */
  claims(path: string): boolean;
}

const rankOf = (claim: Claim): number => claim.route.rank ?? 0;
const NONE: readonly Claim[] = [];

/** Compiles the routes of all protocols. Throws if two of them can match the same request at the same rank. */
export function compileRoutes(claims: readonly Claim[]): RouteTable {
  for (const kind of [isSession, isPlain]) rejectOverlaps(claims.filter(kind));
  const byRank = [...claims].sort((a, b) => rankOf(b) - rankOf(a));
  const plain = new ClaimIndex(byRank.filter(isPlain));
  const sessions = new ClaimIndex(byRank.filter(isSession));
  return {
    find: (head) => plain.find(head),
    findUpgrade: (head) => sessions.find(head)[0],
    methodsAt: (path) => plain.methodsAt(path),
    claims: (path) => plain.claims(path) || sessions.claims(path),
  };
}

const isSession = ({ route }: Claim): boolean => route.upgrade !== undefined;
const isPlain = ({ route }: Claim): boolean => route.upgrade === undefined;

/** Claims by path, in the order of their rank. */
class ClaimIndex {
  readonly #exact = new Map<string, IndexedClaim[]>();
  readonly #below: (IndexedClaim & { readonly prefix: string })[] = [];

  constructor(claims: readonly Claim[]) {
    for (const claim of claims) {
      const { path } = claim.route;
      const indexed = { claim, alone: [claim] };
      if (path.endsWith("/*")) this.#below.push({ ...indexed, prefix: path.slice(0, -1) });
      else this.#exact.set(path, [...(this.#exact.get(path) ?? []), indexed]);
    }
  }

  find(head: RequestHead): readonly Claim[] {
    const exact = this.#exact.get(head.path);
    let found: Claim[] | undefined;
    if (exact !== undefined)
      for (const { claim, alone } of exact) {
        if (!answers(claim, head)) continue;
        if (found === undefined && claim.route.whose === undefined) return alone;
        found = [...(found ?? NONE), claim];
        if (claim.route.whose === undefined) return found;
      }
    for (const { prefix, claim, alone } of this.#below) {
      if (!isBelow(head.path, prefix, claim) || !answers(claim, head)) continue;
      if (found === undefined && claim.route.whose === undefined) return alone;
      found = [...(found ?? NONE), claim];
      if (claim.route.whose === undefined) return found;
    }
    return found ?? NONE;
  }

  methodsAt(path: string): readonly string[] {
    return [
      ...new Set(
        this.#exact
          .get(path)
          ?.filter(isOwned)
          .map(({ claim }) => claim.route.method),
      ),
    ];
  }

  claims(path: string): boolean {
    if (this.#exact.get(path)?.some(isOwned) === true) return true;
    return this.#below.some((each) => isOwned(each) && isBelow(path, each.prefix, each.claim));
  }
}

interface IndexedClaim {
  readonly claim: Claim;
  /** The result if no other route can get the request: allocated once. */
  readonly alone: readonly Claim[];
}

const isOwned = ({ claim }: IndexedClaim): boolean => claim.ownsPath !== false;

/** The one of several claims that gets a request with its body. */
export function claimOf(claims: readonly Claim[], request: HttpRequest): Claim | undefined {
  return claims.find(({ route }) => route.whose === undefined || route.whose(request));
}

function isBelow(path: string, prefix: string, { route }: Claim): boolean {
  return path.startsWith(prefix) && (route.has === undefined || route.has(path));
}

function answers({ route }: Claim, head: RequestHead): boolean {
  return (route.method === head.method || route.method === "*") && (route.when === undefined || route.when(head));
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
