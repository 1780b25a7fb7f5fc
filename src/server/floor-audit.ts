import type { Maybe } from "../envelope/index.js";
import type { Clock, PolicySink } from "../policies/index.js";
import type { AuditSink } from "../security/index.js";

/** How often calls to one upstream are recorded again, with the number of calls in between. */
const INTERVAL_MS = 300_000;

interface Entry {
  untilMs: number;
  calls: number;
}

/** Records what has too little security in the audit log: the first of each kind, then a count every five minutes. */
export function auditFloor(
  sink: Maybe<AuditSink>,
  clock: Pick<Clock, "now">,
  { who, what } = { who: "gateway", what: "a call" },
): Maybe<PolicySink> {
  if (sink === undefined) return undefined;
  // Destinations are configured names, so the number of entries is bounded.
  const entries = new Map<string, Entry>();
  return (note) => {
    if (note.kind !== "floor") return;
    const { outcome, requirement, destination, because } = note;
    const key = JSON.stringify([outcome, requirement, destination]);
    const atMs = clock.now();
    const before = entries.get(key);
    if (before !== undefined && atMs < before.untilMs) {
      before.calls++;
      return;
    }
    entries.set(key, { untilMs: atMs + INTERVAL_MS, calls: 0 });
    sink.record({
      at: new Date(atMs).toISOString(),
      event: outcome === "lowered" ? "downgrade" : "refused",
      who,
      what: `${what} without: ${requirement}`,
      agent: destination,
      reason: because,
      ...(outcome === "refused" ? { code: "downgrade_refused" } : {}),
      ...(before === undefined ? {} : { calls: before.calls + 1 }),
    });
  };
}
