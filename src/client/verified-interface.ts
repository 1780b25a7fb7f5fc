import { CancelSource } from "../envelope/cancel.js";
import { AgentError, type Maybe, startCall } from "../envelope/index.js";
import type { Clock } from "../policies/index.js";
import type { Finding, Peer } from "../protocols/protocol.js";
import type { Connection } from "./connection.js";

export interface VerifyOptions {
  readonly clock: Clock;
  readonly timeMs: number;
  /** The user named the interface. */
  readonly pinned: boolean;
}

/**
 * Whether the interface in use gave a valid answer. Discovery probes one interface of a protocol, the first it lists; another one that
 * the user pinned is asked here.
 */
export async function isVerified(finding: Maybe<Finding>, connection: Connection, options: VerifyOptions): Promise<boolean> {
  if (finding?.proved !== true) return false;
  if (isSamePeer(finding.peers[0], connection.current.peer)) return true;
  return options.pinned && (await answers(connection, options));
}

async function answers(connection: Connection, { clock, timeMs }: VerifyOptions): Promise<boolean> {
  const cancel = new CancelSource();
  const stop = clock.after(timeMs, () => cancel.cancel(new AgentError("deadline", "no reply to a probe", { sent: "maybe" })));
  try {
    await connection.ping(startCall({ cancel }));
    return true;
  } catch {
    return false;
  } finally {
    stop();
  }
}

function isSamePeer(a: Maybe<Peer>, b: Peer): boolean {
  return a?.url === b.url && a.version === b.version && a.binding === b.binding && a.tenant === b.tenant;
}
