import type { AgentError, ErrorCode } from "../../envelope/index.js";

/** What a call that ended says about the peer: it works, it does not, or nothing at all. */
export type CircuitCallResult = "works" | "fails" | "nothing";

/** The peer is not there, does not answer, cannot take more, breaks, or talks nonsense. */
const FAILURES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "unavailable",
  "interrupted",
  "deadline",
  "overloaded",
  "internal",
  "bad_peer",
]);
/** Not even sent, and still about the peer: it could not be reached. */
const UNREACHED: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["unavailable", "interrupted"]);

/**
 * An answer that says no is an answer: the caller's mistakes never count against the peer. What was refused on this side
 * of the wire, what the caller gave up, and a caller that had less than `patienceMs` say nothing.
 */
export function circuitCallResult({ code, facts }: AgentError, waitedMs: number, patienceMs: number): CircuitCallResult {
  if (code === "cancelled") return "nothing";
  if (facts.sent === "no" && !UNREACHED.has(code)) return "nothing";
  if (code === "deadline" && waitedMs < patienceMs) return "nothing";
  return FAILURES.has(code) ? "fails" : "works";
}
