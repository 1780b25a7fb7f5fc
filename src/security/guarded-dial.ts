import type { LookupFunction } from "node:net";
import { AgentError } from "../envelope/index.js";
import { classOfUrl, guardUrl, type PinnedUrl, type Resolve } from "./outbound-guard.js";
import { pinnedLookup } from "./resolve-by-dns.js";

/** Origins beside the peer's own that its documents may lead to. */
const MAX_ORIGINS = 64;

/** What a pool asks before it sends, and where it gets addresses from. */
export interface GuardedDial {
  guard(url: string): void | Promise<void>;
  readonly lookup: LookupFunction;
}

/**
 * The user's own address is dialled as it is. Every other one came out of a document found there, so it passes the guard:
 * never to a more private place than the one it was named at, resolved once, and dialled at the addresses that were checked.
 */
export function guardedDial(url: string, resolve: Resolve, plainLookup: LookupFunction): GuardedDial {
  const own = new URL(url);
  const checked = new Map<string, PinnedUrl>();

  async function check(target: string, origin: string): Promise<void> {
    if (checked.size >= MAX_ORIGINS)
      throw new AgentError("forbidden", `${own.host} leads to more than ${MAX_ORIGINS} other hosts`, { sent: "no" });
    checked.set(origin, await guardUrl(target, { from: await classOfUrl(url, resolve), resolve }));
  }

  return {
    guard(target) {
      if (target.startsWith(own.origin) && !/[^/?#]/.test(target.charAt(own.origin.length))) return undefined;
      const { origin } = new URL(target);
      return checked.has(origin) ? undefined : check(target, origin);
    },
    lookup(hostname, options, callback) {
      if (hostname === own.hostname) return plainLookup(hostname, options, callback);
      const pinned = [...checked.values()].find((each) => each.hostname === hostname);
      if (pinned !== undefined) return pinnedLookup(pinned)(hostname, options, callback);
      return callback(new AgentError("forbidden", `${hostname} was not checked`, { sent: "no" }), "", 0);
    },
  };
}
