import type { AgentError, ErrorCode } from "../../envelope/index.js";

/** What the result of a call says about the peer: healthy, failing, or nothing. */
export type CircuitCallResult = "works" | "fails" | "nothing";

/** Codes that count as failures of the peer. */
const FAILURES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "unavailable",
  "interrupted",
  "deadline",
  "overloaded",
  "internal",
  "bad_peer",
]);
/** Codes that count although nothing was sent: the peer could not be reached. */
const UNREACHED: ReadonlySet<ErrorCode> = new Set<ErrorCode>(["unavailable", "interrupted"]);

/**
 * Errors of the caller never count against the peer. Calls rejected locally, abandoned calls, and deadlines shorter than
 * `patienceMs` say nothing about it.
 */
export function circuitCallResult({ code, facts }: AgentError, waitedMs: number, patienceMs: number): CircuitCallResult {
  if (code === "cancelled") return "nothing";
  if (facts.sent === "no" && !UNREACHED.has(code)) return "nothing";
  if (code === "deadline" && waitedMs < patienceMs) return "nothing";
  return FAILURES.has(code) ? "fails" : "works";
}
