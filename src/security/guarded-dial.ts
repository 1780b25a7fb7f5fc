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
 * For the addresses that come out of a document found at `url`: never to a more private place than that one, never from
 * https to clear text, resolved once, and dialled at the addresses that were checked. The user's own address needs none of
 * this and is dialled elsewhere: here even its name, on another port, means what it meant when it was checked.
 */
export function guardedDial(url: string, resolve: Resolve): GuardedDial {
  const own = new URL(url);
  const checked = new Map<string, PinnedUrl>();

  async function check(target: URL): Promise<void> {
    if (checked.size >= MAX_ORIGINS)
      throw new AgentError("forbidden", `${own.host} leads to more than ${MAX_ORIGINS} other hosts`, { sent: "no" });
    if (own.protocol === "https:" && target.protocol === "http:")
      throw new AgentError("forbidden", `${own.host} is reached by https and leads to ${target.host} in clear text`, {
        sent: "no",
      });
    checked.set(target.origin, await guardUrl(target.href, { from: await classOfUrl(url, resolve), resolve }));
  }

  return {
    guard(target) {
      if (!URL.canParse(target)) throw new AgentError("forbidden", "the address is not a URL", { sent: "no" });
      const parsed = new URL(target);
      return checked.has(parsed.origin) ? undefined : check(parsed);
    },
    lookup(hostname, options, callback) {
      const pinned = [...checked.values()].find((each) => each.hostname === hostname);
      if (pinned !== undefined) return pinnedLookup(pinned)(hostname, options, callback);
      return callback(new AgentError("forbidden", `${hostname} was not checked`, { sent: "no" }), "", 0);
    },
  };
}
