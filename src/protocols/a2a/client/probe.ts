import { AgentError, type Call, isPromise } from "../../../envelope/index.js";
import { isBusy } from "../../discovery.js";
import type { ClientContext } from "../../protocol.js";
import { connect } from "../client.js";

/** The result of probing an address. */
export type ProbeResult =
  | { readonly speaks: true }
  | { readonly speaks: "unknown"; readonly because: string }
  /** `absent`: there is nothing at the address. */
  | { readonly speaks: false; readonly because: string; readonly absent: boolean };

/**
 * Requests a task that cannot exist. The request has no side effects: a server of this version and binding answers "task not
 * found", any other answers differently. A card is a claim; this is evidence.
 */
export async function probe(context: ClientContext, call: Call): Promise<ProbeResult> {
  try {
    const reply = connect(context).handler({ kind: "ping" }, call);
    if (isPromise(reply)) await reply;
    return { speaks: true };
  } catch (thrown) {
    const error = AgentError.from(thrown);
    if (error.code === "unauthenticated" || error.code === "forbidden") {
      return { speaks: "unknown", because: `it requires credentials (${error.message})` };
    }
    // A server that cannot answer now has not said that it speaks something else.
    if (isBusy(error)) return { speaks: "unknown", because: `it is unavailable (${error.message})` };
    const { status } = error.facts;
    return { speaks: false, because: error.message, absent: status === 404 || status === 405 };
  }
}
