import { AgentError, type Call, isPromise } from "../../../envelope/index.js";
import type { Link } from "../../../transport/exchange.js";
import type { IdSource, Peer } from "../../protocol.js";
import { connect } from "../client.js";

/** What one question to an address showed. */
export type ProbeResult =
  | { readonly speaks: true }
  | { readonly speaks: "unknown"; readonly because: string }
  | { readonly speaks: false; readonly because: string };

/**
 * Asks for a task that cannot exist. It changes nothing, and the two grammars answer it differently: a server of this
 * version and binding says "task not found", any other says something else. Cards are claims; this is evidence.
 */
export async function probe(link: Link, peer: Peer, ids: IdSource, call: Call): Promise<ProbeResult> {
  try {
    const reply = connect(link, peer, ids)({ kind: "ping" }, call);
    if (isPromise(reply)) await reply;
    return { speaks: true };
  } catch (thrown) {
    const error = AgentError.from(thrown);
    if (error.code === "unauthenticated" || error.code === "forbidden") {
      return { speaks: "unknown", because: `it wants credentials (${error.message})` };
    }
    return { speaks: false, because: error.message };
  }
}
