import { AgentError, type Maybe } from "../envelope/index.js";
import { isLoopbackAddress } from "../transport/loopback.js";
import type { Admission } from "./admission.js";
import type { AuditSink } from "./audit.js";

/** The address a server is about to bind. */
export interface BindRequest {
  /** The address to listen on; undefined means all addresses. */
  readonly host: Maybe<string>;
  readonly admission: Maybe<Admission>;
  /** The operator explicitly allows anonymous callers. */
  readonly open?: Maybe<boolean>;
  /** Records a refusal. */
  readonly audit?: Maybe<AuditSink>;
}

/** Throws `forbidden` for a non-loopback address without authentication, unless the operator explicitly allowed it. */
export function assertMayBind({ host, admission, open, audit }: BindRequest): void {
  if (open === true || isLoopbackHost(host) || (admission !== undefined && admission.open !== true)) return;
  const address = host ?? "all addresses";
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
      "Configure admission (for example bearer tokens), listen on 127.0.0.1, or declare the agent open to everybody.",
  );
}

/** Names other than localhost may resolve to any address. */
function isLoopbackHost(host: Maybe<string>): boolean {
  return host === "localhost" || host === "[::1]" || isLoopbackAddress(host);
}
