import { type Maybe, RecentMap } from "../envelope/index.js";
import type { HttpRequest, RequestSigner } from "../transport/exchange.js";
import type { PoolOptions } from "../transport/node/index.js";
import { changeRequest, httpAddress, splitTarget } from "../transport/request.js";

/** The credentials of one connection. The peer's card says which are presented, and where. Connections share none. */
export interface Credentials {
  /** Sent as `Authorization: Bearer …`. */
  readonly bearer?: string;
  /** Any other header, sent with every request. */
  readonly headers?: { readonly [name: string]: string };
  /** Sent where the card says: a header, a query parameter or a cookie. */
  readonly apiKey?: string;
  /** A token is fetched with these (RFC 6749 §4.4) and renewed before it expires. */
  readonly oauth2?: ClientCredentials;
  /**
   * Signs every request to the peer's own origin, after everything else was added to it: `requestSignatures` of `koine/auth`. A protocol
   * that signs by itself keeps its own signature.
   */
  readonly signer?: RequestSigner;
  /**
   * Private certificate authorities, their revocation lists (`crl`, one for every authority in a chain), and the client certificate,
   * which is presented to the peer's own origin only.
   */
  readonly tls?: Pick<NonNullable<PoolOptions["tls"]>, "ca" | "crl" | "cert" | "key" | "passphrase">;
}

/** OAuth 2.0 client credentials. */
export interface ClientCredentials {
  /** The client id. */
  readonly clientId: string;
  /** The client secret. */
  readonly clientSecret: string;
  /** Default: the scopes the card requires. */
  readonly scopes?: readonly string[];
  /** The token endpoint. Default: the one on the card, if it is an https address at the peer's own origin. */
  readonly tokenUrl?: string;
}

/** What is added to one request to present credentials. */
export interface PresentedCredentials {
  /** Lower-case names. */
  readonly headers: { readonly [name: string]: string };
  readonly query?: Maybe<readonly (readonly [name: string, value: string])[]>;
  readonly signer?: Maybe<RequestSigner>;
}

/** The headers that are sent without knowing what the card requires. */
export function credentialHeaders({ bearer, headers = {} }: Credentials): { readonly [name: string]: string } {
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return bearer === undefined ? lower : { ...lower, authorization: `Bearer ${bearer}` };
}

/** The request with the credentials added; the same request if there are none. */
export function presentCredentials(request: HttpRequest, { headers, query = [], signer }: PresentedCredentials): HttpRequest {
  if (query.length === 0 && signer === undefined && Object.keys(headers).length === 0) return request;
  return changeRequest(request, {
    url: withParameters(request.target, query),
    headers: { ...request.headers, ...headers },
    signer: request.signer ?? signer,
  });
}

function withParameters(target: string, query: NonNullable<PresentedCredentials["query"]>): string {
  if (query.length === 0) return target;
  const [address = ""] = target.split("#", 1);
  const added = query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&");
  return `${address}${address.includes("?") ? "&" : "?"}${added}`;
}

/**
 * True for addresses at the peer's own scheme, host and port; a session has those of HTTP. Some bindings write `host:port` alone, which matches the
 * peer's host and port.
 */
export function isAtOrigin(target: string, url: string): boolean {
  const own = splitTarget(url).origin;
  const { origin, path } = splitTarget(httpAddress(target));
  if (origin === own) return true; // the usual case, without a parser
  const address = origin === "" && !path.startsWith("/") ? `${own.slice(0, own.indexOf("//"))}//${path}` : origin;
  const wanted = normalOrigin(own);
  return wanted !== undefined && normalOrigin(address) === wanted;
}

const KNOWN_ORIGINS = 256;
/** By address. Parsing one takes microseconds, and every request to an interface at another port asks. */
const normalOrigins = new RecentMap<string>(KNOWN_ORIGINS);

/** Scheme, host and port as URLs compare them. Undefined if the address is not a URL. */
function normalOrigin(address: string): Maybe<string> {
  let origin = normalOrigins.get(address);
  if (origin === undefined) {
    origin = URL.canParse(address) ? new URL(address).origin : "";
    normalOrigins.set(address, origin);
  }
  return origin === "" ? undefined : origin;
}
