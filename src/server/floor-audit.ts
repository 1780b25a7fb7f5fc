import { type Maybe, RecentMap, subjectOf } from "../envelope/index.js";
import type { Clock, PolicyNote } from "../policies/index.js";
import type { AuditSink } from "../security/index.js";

/** How often the same is recorded again, with the number of calls in between. */
const INTERVAL_MS = 300_000;
/** Tracked for that; an evicted one is only recorded again sooner. */
const MAX_ENTRIES = 10_000;

interface Entry {
  untilMs: number;
  calls: number;
}

/** Receives notes, and the owner of the call where somebody else asked for it. */
export type FloorAudit = (note: PolicyNote, owner?: Maybe<string>) => void;

/** Records what has too little security in the audit log: the first of each kind and caller, then a count every five minutes. */
export function auditFloor(
  sink: Maybe<AuditSink>,
  clock: Pick<Clock, "now">,
  { who, what } = { who: "gateway", what: "a call" },
): Maybe<FloorAudit> {
  if (sink === undefined) return undefined;
  const entries = new RecentMap<Entry>(MAX_ENTRIES);
  return (note, owner) => {
    if (note.kind !== "floor") return;
    const { outcome, requirement, destination, because } = note;
    const subject = owner === undefined ? undefined : subjectOf(owner);
    const key = JSON.stringify([outcome, requirement, destination, subject]);
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
      ...(subject === undefined ? { who } : callerOf(subject)),
      what: `${what} without: ${requirement}`,
      agent: destination,
      reason: because,
      ...(outcome === "refused" ? { code: "downgrade_refused" } : {}),
      ...(before === undefined ? {} : { calls: before.calls + 1 }),
    });
  };
}

/** As lines about admission name it. */
function callerOf(subject: string): { readonly who: string; readonly scheme: string } {
  const colon = subject.indexOf(":");
  return { scheme: subject.slice(0, colon), who: subject.slice(colon + 1) };
}
