import { AgentError, type Maybe } from "../envelope/index.js";
import { isLoopbackAddress } from "../transport/loopback.js";
import type { Admission } from "./admission.js";
import type { AuditSink } from "./audit.js";

/** What a server is about to do. */
export interface BindRequest {
  /** The address to listen on; undefined means all of them. */
  readonly host: Maybe<string>;
  readonly admission: Maybe<Admission>;
  /** The operator said in words that everybody may use the agent. */
  readonly open?: Maybe<boolean>;
  /** Hears of a refusal. */
  readonly audit?: Maybe<AuditSink>;
}

/** Throws `forbidden` for an address others can reach, when nobody checks who they are and nobody asked for that. */
export function assertMayBind({ host, admission, open, audit }: BindRequest): void {
  if (open === true || isLoopbackHost(host) || (admission !== undefined && admission.open !== true)) return;
  const place = host ?? "all addresses";
  const at = new Date().toISOString();
  audit?.record({ at, event: "refused", who: "operator", what: `listen on ${place}`, code: "forbidden", reason: "no admission" });
  throw new AgentError(
    "forbidden",
    `not listening on ${place} without authentication: everybody who reaches this address could use the agent. ` +
      "Configure admission (for example bearer tokens), listen on 127.0.0.1, or state that the agent is open to everybody.",
  );
}

/** A name other than localhost may resolve to anything, so it does not count. */
function isLoopbackHost(host: Maybe<string>): boolean {
  return host === "localhost" || host === "[::1]" || isLoopbackAddress(host);
}
