import { AgentError, type Maybe } from "../envelope/index.js";
import { type AddressClass, addressClass, isAsPublic } from "./address.js";

/** Resolves a host name to literal addresses. Injected for tests and other platforms. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** Where the URLs of one document may lead. */
export interface GuardRules {
  /** The class of the address at which the document naming the URL was fetched. */
  readonly from: AddressClass;
  /** Hosts (`name` or `name:port`) that the operator trusts regardless of their address. */
  readonly allow?: Maybe<readonly string[]>;
  readonly resolve: Resolve;
}

/** A checked URL with its checked addresses: connect to one of these and do not resolve again. */
export interface PinnedUrl {
  readonly url: string;
  readonly hostname: string;
  /** Never empty. */
  readonly addresses: readonly PinnedAddress[];
  readonly class: AddressClass;
}

/** A literal address, without brackets. */
export interface PinnedAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** Checks a URL from an untrusted source; `redirectedFrom` is the URL that redirected to it. */
export type Guard = (url: string, redirectedFrom?: PinnedUrl) => Promise<PinnedUrl>;

/** Maximum number of addresses of one name. */
const MAX_ADDRESSES = 32;
const MAX_URL_CHARS = 8_192;

/**
 * A URL from a document fetched at X may lead to X's address class or a more public one, never to a more private one, and never to a
 * reserved address. Every address of the name must pass, because any of them may be connected to.
 */
export async function guardUrl(url: string, rules: GuardRules): Promise<PinnedUrl> {
  const parsed = parseTarget(url);
  const hostname = parsed.hostname;
  const addresses = await addressesOf(hostname, rules.resolve);
  const trusted = isAllowed(parsed, rules.allow);
  let least: AddressClass = "public";
  const pinned: PinnedAddress[] = [];
  for (const address of addresses) {
    const parsedClass = addressClass(address);
    if (parsedClass === undefined) throw new AgentError("forbidden", `${hostname} does not resolve to an IP address`);
    if (!trusted) checkClass(hostname, parsedClass, rules.from);
    if (isAsPublic(least, parsedClass)) least = parsedClass;
    pinned.push({ address, family: address.includes(":") ? 6 : 4 });
  }
  return { url: parsed.href, hostname, addresses: pinned, class: least };
}

/** A redirect is checked as a new URL from the same source, and may not go from https to plain text. */
export async function guardRedirect(location: string, previous: PinnedUrl, rules: GuardRules): Promise<PinnedUrl> {
  const next = absolute(location, previous.url);
  if (next === undefined) throw new AgentError("forbidden", `${previous.hostname} redirects to an invalid URL`);
  if (previous.url.startsWith("https:") && next.protocol !== "https:")
    throw new AgentError("forbidden", `${previous.hostname} redirects from https to ${next.protocol.replace(":", "")}`);
  return guardUrl(next.href, rules);
}

/** The guard for all URLs of one document. */
export function createGuard(rules: GuardRules): Guard {
  return (url, redirectedFrom) =>
    redirectedFrom === undefined ? guardUrl(url, rules) : guardRedirect(url, redirectedFrom, rules);
}

/** The class to use as `from` for a URL the user gave: the most public of its addresses, which is the strictest choice. */
export async function classOfUrl(url: string, resolve: Resolve): Promise<AddressClass> {
  let most: Maybe<AddressClass>;
  for (const address of await addressesOf(parseTarget(url).hostname, resolve)) {
    const parsedClass = addressClass(address);
    if (parsedClass !== undefined && (most === undefined || isAsPublic(parsedClass, most))) most = parsedClass;
  }
  return most ?? "public";
}

function checkClass(hostname: string, to: AddressClass, from: AddressClass): void {
  // An operator-configured peer at a reserved address counts as private; `reserved` itself never passes.
  const origin = from === "reserved" ? "private" : from;
  if (isAsPublic(to, origin)) return;
  throw new AgentError(
    "forbidden",
    `${hostname} is a ${to} address, and the document that refers to it comes from a ${origin} one`,
    {
      detail: { host: hostname, class: to, from: origin },
      sent: "no",
    },
  );
}

/** The URL parser normalises unusual address spellings, so the checked address is the one connected to. */
function parseTarget(url: string): URL {
  const parsed = url.length > MAX_URL_CHARS ? undefined : absolute(url);
  if (parsed === undefined) throw new AgentError("forbidden", "the address is not a URL", { sent: "no" });
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:")
    throw new AgentError("forbidden", `${parsed.protocol.replace(":", "")} URLs are not allowed, only http and https`, {
      sent: "no",
    });
  if (parsed.username !== "" || parsed.password !== "")
    throw new AgentError("forbidden", `the URL of ${parsed.hostname} contains credentials`, { sent: "no" });
  return parsed;
}

function absolute(url: string, base?: string): Maybe<URL> {
  return URL.canParse(url, base) ? new URL(url, base) : undefined;
}

async function addressesOf(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  const literal = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname;
  if (addressClass(literal) !== undefined) return [literal];
  const addresses = await resolve(hostname);
  if (addresses.length === 0) throw new AgentError("unavailable", `${hostname} has no address`, { sent: "no" });
  if (addresses.length > MAX_ADDRESSES)
    throw new AgentError("forbidden", `${hostname} has more than ${MAX_ADDRESSES} addresses`, { sent: "no" });
  return addresses;
}

function isAllowed({ hostname, host }: URL, allow: Maybe<readonly string[]>): boolean {
  return allow !== undefined && (allow.includes(hostname) || allow.includes(host));
}
