import { AgentError, type Maybe } from "../envelope/index.js";
import { isLoopbackHost } from "../transport/loopback.js";
import type { Admission } from "./admission.js";
import type { AuditSink } from "./audit.js";

/** The address a server is about to bind. */
export interface BindRequest {
  /** The address to listen on; undefined means all addresses. */
  readonly host: Maybe<string>;
  readonly admission: Maybe<Admission>;
  /** The address callers use. A proxy makes it reachable, whatever address is bound. */
  readonly publicUrl?: Maybe<string>;
  /** Proxies are configured, so callers are elsewhere. */
  readonly proxied?: Maybe<boolean>;
  /** The operator explicitly allows anonymous callers. */
  readonly open?: Maybe<boolean>;
  /** Records a refusal. */
  readonly audit?: Maybe<AuditSink>;
}

/** Throws `forbidden` for an address beyond this machine without authentication, unless the operator explicitly allowed it. */
export function assertMayBind(request: BindRequest): void {
  const { admission, open, audit } = request;
  if (open === true || (admission !== undefined && admission.open !== true)) return;
  const exposed = exposedBy(request);
  if (exposed === undefined) return;
  const { address, instead } = exposed;
  const at = new Date().toISOString();
  audit?.record({
    at,
    event: "refused",
    who: "operator",
    what: `listen on ${address}`,
    code: "forbidden",
    reason: "no admission",
  });
  throw new AgentError(
    "forbidden",
    `not listening on ${address} without authentication: anyone who can reach this address could use the agent. ` +
      `Configure admission (for example bearer tokens), ${instead}, or declare the agent open to everybody.`,
  );
}

/** What makes the server reachable from elsewhere, and what to do about it. Undefined if nothing does. */
function exposedBy({ host, publicUrl, proxied }: BindRequest): Maybe<{ readonly address: string; readonly instead: string }> {
  if (!isLoopbackHost(host)) return { address: host ?? "all addresses", instead: "listen on 127.0.0.1" };
  if (publicUrl !== undefined && !isLoopbackHost(new URL(publicUrl).hostname))
    return { address: `${host} for ${publicUrl}`, instead: "leave publicUrl out" };
  return proxied === true ? { address: `${host} for trusted proxies`, instead: "leave trustedProxies out" } : undefined;
}
