import type { AgentError } from "../envelope/index.js";
import type { RequestHead } from "../transport/exchange.js";
import { OTHER } from "./edge.js";
import type { Metrics } from "./metrics.js";

/** Reasons are names of our own tables. Anything else would let a peer create series. */
const REASON = /^[a-z][a-z0-9_.-]{0,39}$/;

/** Counts callers that a protocol refused, once for each request or session. */
export type RefusalMetrics = (head: RequestHead, error: AgentError, protocol: string) => void;

/** A caller that is refused is nobody: its name is not a label. */
export function refusalMetrics(metrics: Metrics): RefusalMetrics {
  const refused = metrics.counter("CALLERS_REFUSED", "Requests, handshakes and messages refused because of who sent them");
  const counted = new WeakSet<RequestHead>();
  return (head, error, protocol) => {
    if (counted.has(head)) return;
    counted.add(head);
    refused.edge({ srcAgent: OTHER, dstId: OTHER, protocol, reason: reasonOf(error) }).add(1);
  };
}

function reasonOf({ code, facts }: AgentError): string {
  const reason = facts.detail?.["reason"];
  return typeof reason === "string" && REASON.test(reason) ? reason : code;
}
