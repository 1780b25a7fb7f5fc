import { isRefused } from "../client/credential-link.js";
import { type Credentials, isAtOrigin } from "../client/credentials.js";
import { peerLink } from "../client/peer-link.js";
import type { ConnectOptions } from "../client/resolve-peer.js";
import { satisfy } from "../client/satisfy-security.js";
import { AgentError, type Call, type Cancel, type Card, type Layer, type Maybe, SELF, systemIds } from "../envelope/index.js";
import { stack } from "../policies/index.js";
import {
  CALLER_HEADER,
  callerStatements,
  hostOf,
  type StateCaller,
  type StatementOptions,
  type TokenExchangeOptions,
  tokenExchange,
} from "../security/index.js";
import { noTelemetry, type Telemetry } from "../telemetry/index.js";
import type { HttpRequest, HttpResponse, Link } from "../transport/exchange.js";
import { DEFAULT_LIMITS } from "../transport/limits.js";
import { makeRequest } from "../transport/request.js";

/**
 * Whose credential an upstream sees. `own`: the gateway's, and never a caller's. `passthrough`: the caller's own bearer token,
 * for an upstream in the same trust domain. `exchange`: a token that a service gives out for the caller's (RFC 8693).
 */
export type UpstreamCredentials = "own" | "passthrough" | { readonly exchange: TokenExchangeOptions };

/** What one upstream learns of the gateway's callers. */
export interface CallerSharing {
  /** Default: `own`. */
  readonly upstreamCredentials?: Maybe<UpstreamCredentials>;
  /** Says for whom the gateway calls, in a signed statement: for upstreams that are set up to believe it. */
  readonly tellCaller?: Maybe<StatementOptions>;
}

/** How to connect to an upstream so that it learns of callers what it shall. */
export interface SharedCallers {
  /** May have a link where none was given: who connects closes it when that fails. */
  readonly options: ConnectOptions;
  /** Callers' own credentials must be on the calls: the bridge asks its host for them. */
  readonly sendsCredentialsOn: boolean;
  /** For the operator, at start. */
  readonly notes: readonly string[];
  /** Throws `unauthenticated` where the card demands what nobody can show, before anybody calls. */
  check(card: Card): void;
}

/** A call's credential, as the peer is shown it. */
interface Present {
  /** Throws `unauthenticated` for a call that has none. */
  authorization(call: Call): Promise<string>;
  /** The peer did not take it. */
  refused(call: Call, authorization: string): void;
}

/** The options for an upstream that learns nothing of callers are the ones that were given. */
export function sharingCallers(url: string, options: ConnectOptions, sharing: CallerSharing): SharedCallers {
  const { upstreamCredentials: kind = "own", tellCaller } = sharing;
  const own = options.credentials ?? {};
  const demandsOf = (credentials: Credentials) => (card: Card) => void satisfy(card.security, credentials, url);
  // What is no URL is for connecting to refuse, in its own words.
  if ((kind === "own" && tellCaller === undefined) || !URL.canParse(url))
    return { options, sendsCredentialsOn: false, notes: [], check: demandsOf(own) };

  const { ids = systemIds, limits = DEFAULT_LIMITS, telemetry = noTelemetry } = options;
  const calls = new WeakMap<Cancel, Call>();
  const state = tellCaller && callerStatements(tellCaller, ids);
  const bare = options.link ?? peerLink(url, limits, own.tls);
  const at = { url, calls, state };
  const shared = { telemetry: markingCalls(telemetry, calls) };
  const told = state === undefined ? [] : [`${hostOf(url)} is told for whom the gateway calls, in the ${CALLER_HEADER} header`];
  if (kind === "own") {
    const link = sharingLink(bare, { ...at, place: undefined });
    return { options: { ...options, ...shared, link }, sendsCredentialsOn: false, notes: told, check: demandsOf(own) };
  }

  if (own.oauth2 !== undefined)
    throw new AgentError("invalid_message", "oauth2 is a credential of the gateway's own, and callers' go to this upstream", {
      field: "credentials.oauth2",
    });
  // Stands where the card wants a bearer token until it is known whose call it is. New each time: nobody can send it.
  const marker = ids.newId();
  const place: Place = { marked: `Bearer ${marker}`, own: own.bearer, present: presentFor(kind, () => ids.now()) };
  const credentials: Credentials = { ...own, bearer: marker };
  return {
    options: { ...options, ...shared, credentials, link: sharingLink(bare, { ...at, place }) },
    sendsCredentialsOn: true,
    notes: [noteOn(kind, url), ...told],
    check: (card) => checkPlace(card, credentials, place, url),
  };
}

function noteOn(kind: Exclude<UpstreamCredentials, "own">, url: string): string {
  return kind === "passthrough"
    ? `callers' own tokens go on to ${hostOf(url)}: it must be in the same trust domain as this gateway`
    : `callers' tokens are exchanged at ${hostOf(kind.exchange.tokenUrl)} for tokens that ${hostOf(url)} takes`;
}

function checkPlace(card: Card, credentials: Credentials, { marked }: Place, url: string): void {
  const { headers } = satisfy(card.security, credentials, url);
  if (headers["authorization"] !== marked)
    throw new AgentError(
      "unauthenticated",
      `callers' tokens were to go on to ${hostOf(url)}, and its card asks for something that no caller can give`,
      { sent: "no" },
    );
}

function presentFor(kind: Exclude<UpstreamCredentials, "own">, now: () => number): Present {
  if (kind === "passthrough") return { authorization: async (call) => `Bearer ${tokenOf(call)}`, refused: () => undefined };
  const exchange = tokenExchange(kind.exchange, now);
  return {
    authorization: async (call) => `Bearer ${await exchange.tokenFor(tokenOf(call))}`,
    refused: (call, authorization) => exchange.drop(tokenOf(call), authorization.slice("Bearer ".length)),
  };
}

function tokenOf({ credential }: Call): string {
  const token = credential?.bearerToken();
  if (token !== undefined) return token;
  throw new AgentError(
    "unauthenticated",
    "the agent behind this gateway is called with the caller's own bearer token, and this call brings none",
    { sent: "no", head: { "www-authenticate": 'Bearer realm="koine"' } },
  );
}

/**
 * Tells the link which call a request belongs to. What is around the client half and the link below it share nothing but the
 * cancel, which a client half hands on as `request.cancel`.
 */
function markingCalls(telemetry: Telemetry, calls: WeakMap<Cancel, Call>): Telemetry {
  const marking: Layer = (next) => (operation, call) => {
    calls.set(call.cancel, call);
    return next(operation, call);
  };
  return { ...telemetry, wire: (...edge) => stack([telemetry.wire(...edge), marking]) };
}

/** Where the caller's credential belongs, and what is put there. */
interface Place {
  /** The header value that says so. */
  readonly marked: string;
  /** The gateway's own, for what it asks on its own account. */
  readonly own: Maybe<string>;
  readonly present: Present;
}

interface Sharing {
  readonly url: string;
  readonly calls: WeakMap<Cancel, Call>;
  readonly state: Maybe<StateCaller>;
  readonly place: Maybe<Place>;
}

/** Below everything that watches: what is added here is seen by the peer alone, and only at its own origin. */
function sharingLink(link: Link, { url, calls, state, place }: Sharing): Link {
  const { origin } = new URL(url);

  async function exchange(request: HttpRequest): Promise<HttpResponse> {
    if (!isAtOrigin(request.target, url)) return link.exchange(request);
    const call = calls.get(request.cancel);
    const caller = call === undefined || call.caller.owner === SELF.owner ? undefined : call;
    const statement = caller && state?.(caller.caller, origin);
    const stated = statement === undefined ? request : withHeader(request, CALLER_HEADER, statement);
    if (place === undefined || request.headers["authorization"] !== place.marked) return link.exchange(stated);
    if (caller === undefined) return link.exchange(withHeader(stated, "authorization", ownFor(request, call, place)));
    const authorization = await place.present.authorization(caller);
    const response = await link.exchange(withHeader(stated, "authorization", authorization));
    if (isRefused(response)) place.present.refused(caller, authorization);
    return response;
  }
  return { ...link, exchange, close: () => link.close() };
}

/** What belongs to no call may look at the peer in the gateway's name, and do nothing. */
function ownFor({ method }: HttpRequest, call: Maybe<Call>, { own }: Place): Maybe<string> {
  const may = call !== undefined || method === "GET" || method === "HEAD";
  return own !== undefined && may ? `Bearer ${own}` : undefined;
}

function withHeader(request: HttpRequest, name: string, value: Maybe<string>): HttpRequest {
  const { method, target: url, body, cancel, connection } = request;
  return makeRequest({ method, url, headers: { ...request.headers, [name]: value }, body, cancel, connection });
}
