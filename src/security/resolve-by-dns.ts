import type { LookupFunction } from "node:net";
import { AgentError } from "../envelope/index.js";
import { lazyModule } from "../transport/node/lazy-module.js";
import type { PinnedUrl, Resolve } from "./outbound-guard.js";

const dns = lazyModule<typeof import("node:dns")>("node:dns");

/** Timeout of a DNS lookup. */
const RESOLVE_MS = 5_000;

/** System resolution, including the hosts file. */
export const resolveByDns: Resolve = (hostname) =>
  new Promise((resolve, reject) => {
    const unresolved = (cause?: unknown): AgentError =>
      new AgentError("unavailable", `${hostname} could not be resolved`, { sent: "no", cause });
    const timer = setTimeout(() => reject(unresolved()), RESOLVE_MS);
    timer.unref();
    dns().lookup(hostname, { all: true, verbatim: true }, (error, found) => {
      clearTimeout(timer);
      if (error === null) resolve(found.map(({ address }) => address));
      else reject(unresolved(error));
    });
  });

/**
 * A `lookup` option for `net`, `http` or an undici connector that returns only the checked addresses. The name stays in use for TLS and
 * `Host`; an unchecked name is refused. Use it with separate connections: a shared pool may return a socket of the same name that was
 * opened without the check.
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
