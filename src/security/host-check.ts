import { AgentError, type Maybe } from "../envelope/index.js";
import type { HttpRequest } from "../transport/exchange.js";
import { addressClass } from "./address.js";

/** The names and pages of one server. */
export interface HostCheckOptions {
  /** The port the server really listens on. */
  readonly port: number;
  /** The address it was bound to. For `0.0.0.0` or `::` every literal address counts as ours: rebinding needs a name. */
  readonly boundHost?: Maybe<string>;
  /** Further names, `name` or `name:port`. */
  readonly names?: Maybe<readonly string[]>;
  readonly publicUrl?: Maybe<string>;
  /** Origins whose pages may call us, exactly as browsers send them; `*` for all. */
  readonly allowedOrigins?: Maybe<readonly string[]>;
}

/** Undefined when the request may go on. */
export type HostCheck = (request: HttpRequest) => Maybe<AgentError>;

const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"] as const;
/** Spellings of our own names that are remembered for the next request. */
const MAX_HOSTS = 1_000;
const UNSPECIFIED: ReadonlySet<string> = new Set(["0.0.0.0", "::", "[::]"]);

/**
 * Against pages that reach into the local network: a rebound name is not one of ours, and a foreign page has a foreign
 * `Origin`. On the usual path this is one set lookup and one property read.
 */
export function createHostCheck(options: HostCheckOptions): HostCheck {
  const hosts = ownHosts(options);
  const anyAddress = options.boundHost !== undefined && UNSPECIFIED.has(options.boundHost);
  const origins = new Set(options.allowedOrigins ?? []);
  if (options.publicUrl !== undefined) origins.add(new URL(options.publicUrl).origin);

  function isOwnHost(host: string): boolean {
    if (hosts.has(host)) return true;
    const lower = host.toLowerCase();
    if (!hosts.has(lower) && !(anyAddress && isOwnAddress(lower, options.port))) return false;
    if (hosts.size < MAX_HOSTS) hosts.add(host);
    return true;
  }

  function isOwnOrigin(origin: string, host: string): boolean {
    return origins.has(origin) || origins.has("*") || origin === `http://${host}` || origin === `https://${host}`;
  }

  return (request) => {
    const host = request.headers["host"];
    if (host === undefined || !isOwnHost(host)) return foreignHost(host);
    const origin = request.headers["origin"];
    return origin === undefined || isOwnOrigin(origin, host) ? undefined : foreignOrigin(origin);
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
  // Behind a proxy or a mapped port the name arrives without our port, or with another one.
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
  const shown = host === undefined ? "without a Host header" : `for host ${JSON.stringify(host.slice(0, 100))}`;
  return new AgentError("forbidden", `this server does not answer ${shown}; configure the name it is reached by`, {
    field: "host",
  });
}

function foreignOrigin(origin: string): AgentError {
  const message = `pages of ${JSON.stringify(origin.slice(0, 100))} may not call this server; configure the origin to allow it`;
  return new AgentError("forbidden", message, { field: "origin" });
}
