import { AgentError, type Maybe } from "../envelope/index.js";
import { type AddressClass, addressClass, isAsPublic } from "./address.js";

/** The literal addresses of a host name. Given in, so that tests and other platforms bring their own. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

/** Where the URLs of one document may lead. */
export interface GuardRules {
  /** The class of the address at which the document naming the URL was fetched. */
  readonly from: AddressClass;
  /** Hosts (`name` or `name:port`) the operator trusts whatever their address. */
  readonly allow?: Maybe<readonly string[]>;
  readonly resolve: Resolve;
}

/** A checked URL with the addresses it was checked by: connect to one of these and resolve nothing again. */
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

/** Checks a URL somebody else wrote; `redirectedFrom` is the one whose answer led there. */
export type Guard = (url: string, redirectedFrom?: PinnedUrl) => Promise<PinnedUrl>;

/** Addresses a name may have; a resolver that answers more is playing. */
const MAX_ADDRESSES = 32;
const MAX_URL_CHARS = 8_192;

/**
 * The rule: a URL from a document fetched at X may lead to X's address class or a more public one, never to a more
 * private one, and never to a reserved address. Every address of the name must pass, because any may be connected to.
 */
export async function guardUrl(url: string, rules: GuardRules): Promise<PinnedUrl> {
  const parsed = parseTarget(url);
  const hostname = parsed.hostname;
  const addresses = await addressesOf(hostname, rules.resolve);
  const trusted = isAllowed(parsed, rules.allow);
  let least: AddressClass = "public";
  const pinned: PinnedAddress[] = [];
  for (const address of addresses) {
    const got = addressClass(address);
    if (got === undefined) throw new AgentError("forbidden", `${hostname} resolves to something that is not an address`);
    if (!trusted) checkClass(hostname, got, rules.from);
    if (isAsPublic(least, got)) least = got;
    pinned.push({ address, family: address.includes(":") ? 6 : 4 });
  }
  return { url: parsed.href, hostname, addresses: pinned, class: least };
}

/** A redirect is a new URL by the same author: checked anew, and never from a protected connection to a clear one. */
export async function guardRedirect(location: string, previous: PinnedUrl, rules: GuardRules): Promise<PinnedUrl> {
  const next = absolute(location, previous.url);
  if (next === undefined) throw new AgentError("forbidden", `${previous.hostname} redirects to something that is not a URL`);
  if (previous.url.startsWith("https:") && next.protocol !== "https:")
    throw new AgentError("forbidden", `${previous.hostname} redirects from https to ${next.protocol.replace(":", "")}`);
  return guardUrl(next.href, rules);
}

/** The guard for everything one document names. */
export function createGuard(rules: GuardRules): Guard {
  return (url, redirectedFrom) =>
    redirectedFrom === undefined ? guardUrl(url, rules) : guardRedirect(url, redirectedFrom, rules);
}

/** The class to use as `from` for documents fetched at a URL the user gave: the most public of its addresses, so that a doubt allows less. */
export async function classOfUrl(url: string, resolve: Resolve): Promise<AddressClass> {
  let most: Maybe<AddressClass>;
  for (const address of await addressesOf(parseTarget(url).hostname, resolve)) {
    const got = addressClass(address);
    if (got !== undefined && (most === undefined || isAsPublic(got, most))) most = got;
  }
  return most ?? "public";
}

function checkClass(hostname: string, to: AddressClass, from: AddressClass): void {
  // Whoever was reached at a reserved address, by the operator's word, is a neighbour and no more; so `reserved` never passes.
  const origin = from === "reserved" ? "private" : from;
  if (isAsPublic(to, origin)) return;
  throw new AgentError("forbidden", `${hostname} is a ${to} address, and the document naming it comes from a ${origin} one`, {
    detail: { host: hostname, class: to, from: origin },
    sent: "no",
  });
}

/** The URL parser undoes every odd spelling of an address, so what is checked is what is connected to. */
function parseTarget(url: string): URL {
  const parsed = url.length > MAX_URL_CHARS ? undefined : absolute(url);
  if (parsed === undefined) throw new AgentError("forbidden", "the address is not a URL", { sent: "no" });
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:")
    throw new AgentError("forbidden", `${parsed.protocol.replace(":", "")} addresses are not followed, only http and https`, {
      sent: "no",
    });
  if (parsed.username !== "" || parsed.password !== "")
    throw new AgentError("forbidden", `the address of ${parsed.hostname} contains credentials`, { sent: "no" });
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
