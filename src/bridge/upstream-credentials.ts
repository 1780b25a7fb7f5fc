import { isUnauthenticated } from "../client/credential-link.js";
import { type Credentials, isAtOrigin } from "../client/credentials.js";
import { peerLink } from "../client/peer-link.js";
import { type ConnectOptions, ownCredentials } from "../client/resolve-peer.js";
import { satisfy } from "../client/satisfy-security.js";
import {
  AgentError,
  type Call,
  CallSlot,
  type Card,
  healthChecks,
  type Layer,
  type Maybe,
  SELF,
  systemIds,
} from "../envelope/index.js";
import {
  CALLER_HEADER,
  callerStatements,
  hostOf,
  type StateCaller,
  type StatementOptions,
  type TokenExchangeOptions,
  tokenExchange,
} from "../security/index.js";
import type { HttpRequest, HttpResponse, Link, Session } from "../transport/exchange.js";
import { DEFAULT_LIMITS } from "../transport/limits.js";
import { openSession } from "../transport/links.js";
import { changeRequest } from "../transport/request.js";

/**
 * Which credential is sent to an upstream. `own`: the gateway's, never a caller's. `passthrough`: the caller's own bearer token,
 * for an upstream in the same trust domain. `exchange`: a token exchanged for the caller's (RFC 8693).
 */
export type UpstreamCredentials = "own" | "passthrough" | { readonly exchange: TokenExchangeOptions };

/** What one upstream is shown of the gateway's callers. */
export interface CallerSharing {
  /** Default: `own`. */
  readonly upstreamCredentials?: Maybe<UpstreamCredentials>;
  /** Sends a signed statement of who the caller is, for upstreams configured to trust the gateway. */
  readonly tellCaller?: Maybe<StatementOptions>;
}

/** How to connect to an upstream so that callers are shared as configured. */
export interface SharedCallers {
  /** May contain a new link: the caller closes it if connecting fails. */
  readonly options: ConnectOptions;
  /** Calls must carry the callers' credentials: the host of the bridge provides them. */
  readonly sendsCredentialsOn: boolean;
  /** Notes for the operator at start. */
  readonly notes: readonly string[];
  /** Throws `unauthenticated` for a card whose requirement cannot be satisfied, before any call. */
  check(card: Card): void;
}

/** Provides the authorization header of a call. */
interface Present {
  /** Throws `unauthenticated` for a call without a credential. */
  authorization(call: Call): Promise<string>;
  /** The upstream rejected it. */
  refused(call: Call, authorization: string): void;
}

/** Returns the given options unchanged where nothing of callers is shared. */
export function sharingCallers(url: string, options: ConnectOptions, sharing: CallerSharing): SharedCallers {
  const { upstreamCredentials: kind = "own", tellCaller } = sharing;
  const own = ownCredentials(options);
  const demandsOf = (credentials: Credentials) => (card: Card) => void satisfy(card.security, credentials, url);
  // An invalid URL is rejected by connect().
  if ((kind === "own" && tellCaller === undefined) || !URL.canParse(url))
    return { options, sendsCredentialsOn: false, notes: [], check: demandsOf(own) };

  const { ids = systemIds, limits = DEFAULT_LIMITS } = options;
  const state = tellCaller && callerStatements(tellCaller, ids);
  const bare = options.link ?? peerLink(url, limits, own.tls);
  const at = { url, state };
  const statementNote =
    state === undefined ? [] : [`the identity of callers is sent to ${hostOf(url)} in the ${CALLER_HEADER} header`];
  if (kind === "own") {
    const link = sharingLink(bare, { ...at, slot: undefined });
    return { options: { ...options, link }, sendsCredentialsOn: false, notes: statementNote, check: demandsOf(own) };
  }

  if (own.oauth2 !== undefined)
    throw new AgentError(
      "invalid_message",
      "credentials.oauth2 cannot be combined with callers' credentials: oauth2 is a credential of the gateway itself",
      {
        field: "credentials.oauth2",
      },
    );
  // A placeholder for the bearer token until the call is known. Random, so that no caller can send it.
  const marker = ids.newId();
  const slot: CredentialSlot = { marked: `Bearer ${marker}`, own: own.bearer, present: presentFor(kind, () => ids.now()) };
  const credentials: Credentials = { ...own, bearer: marker };
  return {
    options: {
      ...options,
      credentials,
      layers: [performing, ...(options.layers ?? [])],
      link: sharingLink(bare, { ...at, slot }),
    },
    sendsCredentialsOn: true,
    notes: [noteOn(kind, url), ...statementNote],
    check: (card) => checkSlot(card, credentials, slot, url),
  };
}

function noteOn(kind: Exclude<UpstreamCredentials, "own">, url: string): string {
  return kind === "passthrough"
    ? `callers' own tokens are forwarded to ${hostOf(url)}: it must be in the same trust domain as this gateway`
    : `callers' tokens are exchanged at ${hostOf(kind.exchange.tokenUrl)} for tokens that ${hostOf(url)} accepts`;
}

function checkSlot(card: Card, credentials: Credentials, { marked }: CredentialSlot, url: string): void {
  const { headers } = satisfy(card.security, credentials, url);
  if (headers["authorization"] !== marked)
    throw new AgentError(
      "unauthenticated",
      `callers' tokens cannot be forwarded to ${hostOf(url)}: its card requires something other than a bearer token`,
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
  throw new AgentError("unauthenticated", "the upstream agent requires the caller's own bearer token, and this call has none", {
    sent: "no",
    head: { "www-authenticate": 'Bearer realm="koine"' },
  });
}

/** On the calls that perform an operation. Those of discovery do not: its probes are sent without the gateway's credential. */
const performed = new CallSlot<true>();
const performing: Layer = (next) => (operation, call) => {
  performed.put(call, true);
  return next(operation, call);
};

/** Where the caller's credential goes, and what is sent there. */
interface CredentialSlot {
  /** The placeholder header value. */
  readonly marked: string;
  /** The gateway's own credential, for its own requests. */
  readonly own: Maybe<string>;
  readonly present: Present;
}

interface Sharing {
  readonly url: string;
  readonly state: Maybe<StateCaller>;
  readonly slot: Maybe<CredentialSlot>;
}

/** Innermost link, below telemetry: what is added here is sent to the upstream only, at its own origin. */
function sharingLink(link: Link, { url, state, slot }: Sharing): Link {
  const { origin } = new URL(url);

  async function exchange(request: HttpRequest): Promise<HttpResponse> {
    if (!isAtOrigin(request.target, url)) return link.exchange(request);
    const { call } = request;
    const caller = call === undefined || call.caller.owner === SELF.owner ? undefined : call;
    const statement = caller && state?.(caller.caller, origin);
    const stated = statement === undefined ? request : withHeader(request, CALLER_HEADER, statement);
    if (slot === undefined || request.headers["authorization"] !== slot.marked) return link.exchange(stated);
    if (caller === undefined) return link.exchange(withHeader(stated, "authorization", ownFor(request, slot)));
    const authorization = await slot.present.authorization(caller);
    const response = await link.exchange(withHeader(stated, "authorization", authorization));
    if (isUnauthenticated(response)) slot.present.refused(caller, authorization);
    return response;
  }

  /** A session is shared by callers, and a credential or a statement is of one. */
  async function open(request: HttpRequest, subprotocols: readonly string[]): Promise<Session> {
    const isShared = state !== undefined || (slot !== undefined && request.headers["authorization"] === slot.marked);
    if (isShared && isAtOrigin(request.target, url))
      throw new AgentError(
        "unsupported",
        `callers cannot be stated to ${hostOf(url)} over a session, because it is shared by all callers: choose another interface`,
        { sent: "no" },
      );
    return openSession(link, request, subprotocols);
  }
  return { exchange, open, close: () => link.close() };
}

/** Requests outside an operation use the gateway's credential only to read. */
function ownFor({ method, call }: HttpRequest, { own }: CredentialSlot): Maybe<string> {
  const may = performed.of(call) === true || healthChecks.of(call) === true || method === "GET" || method === "HEAD";
  return own !== undefined && may ? `Bearer ${own}` : undefined;
}

function withHeader(request: HttpRequest, name: string, value: Maybe<string>): HttpRequest {
  return changeRequest(request, { headers: { ...request.headers, [name]: value } });
}
