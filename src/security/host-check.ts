import { AgentError, type Maybe } from "../envelope/index.js";
import type { RequestHead } from "../transport/exchange.js";
import { addressClass } from "./address.js";

/** The names of one server and the origins that may call it. */
export interface HostCheckOptions {
  /** The actual port of the server. */
  readonly port: number;
  /** The bind address. For `0.0.0.0` or `::` every literal address is accepted: DNS rebinding needs a name. */
  readonly boundHost?: Maybe<string>;
  /** Further host names, `name` or `name:port`. */
  readonly names?: Maybe<readonly string[]>;
  readonly publicUrl?: Maybe<string>;
  /** Origins that may call this server, exactly as browsers send them; `*` for all. */
  readonly allowedOrigins?: Maybe<readonly string[]>;
}

/** Returns undefined if the request may proceed. */
export type HostCheck = (request: RequestHead) => Maybe<AgentError>;

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"] as const;
/** Cached spellings of our own names. */
const MAX_HOSTS = 1_000;
const UNSPECIFIED: ReadonlySet<string> = new Set(["0.0.0.0", "::", "[::]"]);

/**
 * Protects against web pages that reach into the local network: a rebound name is not one of ours, and a foreign page has a foreign
 * `Origin`. The common path is one set lookup and one property read.
 */
export function createHostCheck(options: HostCheckOptions): HostCheck {
  const hosts = ownHosts(options);
  const anyAddress = options.boundHost !== undefined && UNSPECIFIED.has(options.boundHost);
  const checkOrigin = createOriginCheck(options);

  function isOwnHost(host: string): boolean {
    if (hosts.has(host)) return true;
    const lower = host.toLowerCase();
    if (!hosts.has(lower) && !(anyAddress && isOwnAddress(lower, options.port))) return false;
    if (hosts.size < MAX_HOSTS) hosts.add(host);
    return true;
  }

  return (request) => {
    const host = request.headers["host"];
    return host === undefined || !isOwnHost(host) ? foreignHost(host) : checkOrigin(request);
  };
}

/**
 * Refuses pages of other origins. Browsers send credentials of the user with the request that opens a WebSocket, from any page, and no
 * other rule of theirs protects it.
 */
export function createOriginCheck({
  publicUrl,
  allowedOrigins = [],
}: Pick<HostCheckOptions, "publicUrl" | "allowedOrigins">): HostCheck {
  const origins = new Set(allowedOrigins);
  if (publicUrl !== undefined) origins.add(new URL(publicUrl).origin);
  return ({ headers: { origin, host } }) => {
    if (origin === undefined || origins.has(origin) || origins.has("*")) return undefined;
    return origin === `http://${host}` || origin === `https://${host}` ? undefined : foreignOrigin(origin);
  };
}

function ownHosts({ port, boundHost, names, publicUrl }: HostCheckOptions): Set<string> {
  const hosts = new Set<string>();
  const add = (name: string): void => {
    const lower = name.toLowerCase();
    hosts.add(lower);
    if (!hasPort(lower)) hosts.add(`${lower}:${port}`);
  };
  for (const name of LOOPBACK_NAMES) {
    hosts.add(`${name}:${port}`);
    if (port === 80 || port === 443) hosts.add(name);
  }
  if (boundHost !== undefined && !UNSPECIFIED.has(boundHost)) {
    const name = bracketed(boundHost.toLowerCase());
    hosts.add(`${name}:${port}`);
    if (port === 80 || port === 443) hosts.add(name);
  }
  // Behind a proxy or a mapped port the name arrives with another port or none.
  for (const name of names ?? []) add(bracketed(name));
  if (publicUrl !== undefined) hosts.add(new URL(publicUrl).host);
  return hosts;
}

function bracketed(host: string): string {
  return host.includes(":") && !host.startsWith("[") && addressClass(host) !== undefined ? `[${host}]` : host;
}

function hasPort(host: string): boolean {
  return /(^[^[\]:]+|\]):\d+$/.test(host);
}

function isOwnAddress(host: string, port: number): boolean {
  const suffix = `:${port}`;
  const name = host.endsWith(suffix) && hasPort(host) ? host.slice(0, -suffix.length) : host;
  if (name === host && port !== 80 && port !== 443) return false;
  return addressClass(name) !== undefined && (name.startsWith("[") || !name.includes(":"));
}

function foreignHost(host: string | undefined): AgentError {
  const target = host === undefined ? "without a Host header" : `for host ${JSON.stringify(host.slice(0, 100))}`;
  return new AgentError("forbidden", `this server does not accept requests ${target}; configure its public host name`, {
    field: "host",
  });
}

function foreignOrigin(origin: string): AgentError {
  const message = `pages of ${JSON.stringify(origin.slice(0, 100))} may not call this server; add the origin to the allowed origins`;
  return new AgentError("forbidden", message, { field: "origin" });
}
