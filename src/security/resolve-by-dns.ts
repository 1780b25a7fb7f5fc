import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { AgentError } from "../envelope/index.js";
import type { PinnedUrl, Resolve } from "./outbound-guard.js";

/** A resolver that has not answered by then will not be waited for. */
const RESOLVE_MS = 5_000;

/** The system's own resolution, the hosts file included. */
export const resolveByDns: Resolve = (hostname) =>
  new Promise((resolve, reject) => {
    const unresolved = (cause?: unknown): AgentError =>
      new AgentError("unavailable", `${hostname} could not be resolved`, { sent: "no", cause });
    const timer = setTimeout(() => reject(unresolved()), RESOLVE_MS);
    timer.unref();
    lookup(hostname, { all: true, verbatim: true }, (error, found) => {
      clearTimeout(timer);
      if (error === null) resolve(found.map(({ address }) => address));
      else reject(unresolved(error));
    });
  });

/**
 * A `lookup` option for `net`, `http` or an undici connector that answers with the checked addresses only. The name stays
 * in place for TLS and for `Host`; a name that was not checked is refused. Use it with connections of their own: a shared
 * pool hands out a socket of the same name that was opened without the check.
 */
export function pinnedLookup(pinned: PinnedUrl): LookupFunction {
  return (hostname, options, callback) => {
    const [first] = pinned.addresses;
    if (hostname !== pinned.hostname || first === undefined) {
      callback(new AgentError("forbidden", `${hostname} was not checked`, { sent: "no" }), "", 0);
      return;
    }
    if (options.all === true) callback(null, [...pinned.addresses]);
    else callback(null, first.address, first.family);
  };
}
