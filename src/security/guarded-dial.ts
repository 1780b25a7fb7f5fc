import type { LookupFunction } from "node:net";
import { AgentError, RecentMap } from "../envelope/index.js";
import { classOfUrl, guardUrl, type PinnedUrl, type Resolve } from "./outbound-guard.js";
import { pinnedLookup } from "./resolve-by-dns.js";

/** Origins other than the peer's own that its documents may refer to. */
const MAX_ORIGINS = 64;
const ALLOWED = 256;

/** The outbound checks and name resolution for a connection pool. */
export interface GuardedDial {
  guard(url: string): void | Promise<void>;
  readonly lookup: LookupFunction;
}

/**
 * For URLs from a document fetched at `url`: never to a more private address than that one, never from https to plain text, resolved
 * once, and dialled at the checked addresses. The user's own URL does not need this and is dialled elsewhere; here even its host name,
 * on another port, is pinned to the checked addresses.
 */
export function guardedDial(url: string, resolve: Resolve): GuardedDial {
  const own = new URL(url);
  const checked = new Map<string, PinnedUrl>();
  /** Addresses at these origins: parsing one takes microseconds, and a client calls few again and again. */
  const allowed = new RecentMap<true>(ALLOWED);

  async function check(target: URL): Promise<void> {
    if (checked.size >= MAX_ORIGINS)
      throw new AgentError("forbidden", `${own.host} refers to more than ${MAX_ORIGINS} other hosts`, { sent: "no" });
    if (own.protocol === "https:" && target.protocol === "http:")
      throw new AgentError("forbidden", `${own.host} uses https but refers to ${target.host} in plain text`, {
        sent: "no",
      });
    checked.set(target.origin, await guardUrl(target.href, { from: await classOfUrl(url, resolve), resolve }));
  }

  return {
    guard(target) {
      if (allowed.get(target) === true) return undefined;
      if (!URL.canParse(target)) throw new AgentError("forbidden", "the address is not a URL", { sent: "no" });
      const parsed = new URL(target);
      if (!checked.has(parsed.origin)) return check(parsed);
      allowed.set(target, true);
      return undefined;
    },
    lookup(hostname, options, callback) {
      const pinned = [...checked.values()].find((each) => each.hostname === hostname);
      if (pinned !== undefined) return pinnedLookup(pinned)(hostname, options, callback);
      return callback(new AgentError("forbidden", `${hostname} was not checked`, { sent: "no" }), "", 0);
    },
  };
}
