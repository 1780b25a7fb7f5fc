import type { BenchEventOf, RequestEvent } from "./event.js";
import { latencyUs } from "./latency.js";
import { mean } from "./means.js";
import type { Condition, PlannedFault, Settings } from "./plan.js";
import type { RunEvents } from "./run-events.js";
import type { Cycle, Storm, Victim } from "./storm-schema.js";
import { type AnswerHop, probesOf, victimOf } from "./storm-victim.js";
import { countRetentionOf, type Ended, retentionOf, windowsOf } from "./storm-windows.js";

const NS_PER_S = 1_000_000_000;
const NS_PER_US = 1_000;
type Fault = BenchEventOf<"fault">;
interface StormSettings {
  readonly settings: Pick<Settings, "messageTimeoutMs">;
}

/** What the faults of a run did to it; undefined for a run without faults, or whose answers nobody judged. */
export function stormOf(events: RunEvents, condition: Condition, { settings }: StormSettings): Storm | undefined {
  const { requests, notes, phases } = events;
  const judged = new Map(notes.filter(({ kind }) => kind === "judged").map((note) => [note.seq, note.values]));
  if (condition.faults.length === 0 || judged.size === 0) return undefined;
  const beginNs = phases.find(({ phase }) => phase === "measure")?.ns;
  const endNs = phases.find(({ phase }) => phase === "end")?.ns;
  // A run that did not end has no windows.
  if (beginNs === undefined || endNs === undefined) return undefined;
  const measured = requests.filter(({ phase, outcome }) => phase === "measure" && outcome !== "dropped");
  const seqs = new Set<number | undefined>(measured.map(({ seq }) => seq));
  const isMeasured = (seq: number | undefined): boolean => seqs.has(seq);
  const isRight = ({ seq, outcome }: RequestEvent): boolean => outcome === "answered" && judged.get(seq)?.["right"] === true;
  const ended: readonly Ended[] = measured.map((request) => ({
    askedNs: request.stamps.intended,
    ns: request.stamps.done,
    right: isRight(request),
    latencyUs: latencyUs(request, settings.messageTimeoutMs),
  }));
  const hops = answerHops(events, new Map(measured.filter(isRight).map((each) => [each.seq, each.stamps.done])));
  const groups = faultGroups(events.faults, condition.faults);
  const cycles = groups.map(({ begins, planned }, index) => {
    const victims = victimsOf(planned).map((victim) => victimOf(victim, { events, begins, planned, hops }));
    const faultNs = Math.min(...begins.map(({ ns }) => ns));
    const nextNs = groups[index + 1]?.begins.map(({ ns }) => ns).sort((a, b) => a - b)[0];
    const around = { faultNs, nextNs, beginNs, endNs, kind: planned[0]?.kind ?? "kill" };
    return cycleOf(around, victims, { ended, hops, notes });
  });
  const locals = [...judged.values()].filter(({ local }) => local === true).length;
  return {
    cycles,
    lost: measured.filter(({ outcome }) => outcome !== "answered").length,
    doubled: doubledIn(events, measured),
    discarded: notes.filter(({ kind, seq }) => kind === "discarded" && isMeasured(seq)).length,
    repeated: repeatedIn(events, measured),
    executedAgain: executedAgainIn(events, measured),
    localShare: locals / judged.size,
    rightShare: ended.length === 0 ? null : ended.filter(({ right }) => right).length / ended.length,
    timeline: timelineOf(ended, beginNs),
  };
}

/** Right answers by what they went through, in the order in which they arrived. */
function answerHops(
  { services, peerServices, peerRequests }: RunEvents,
  rightAt: ReadonlyMap<number, number>,
): readonly AnswerHop[] {
  const seqOf = new Map(peerRequests.map(({ id, seq }) => [id, seq]));
  const hopOf = (through: string, seq: number | undefined, ns: number): readonly AnswerHop[] => {
    const answeredNs = seq === undefined ? undefined : rightAt.get(seq);
    return answeredNs === undefined ? [] : [{ through, ns, answeredNs }];
  };
  return [
    ...services.flatMap(({ agent, seq, stamps }) => hopOf(agent, seq, stamps.serviceStart)),
    ...peerServices.flatMap(({ agent, id, stamps }) => hopOf(agent, seqOf.get(id), stamps.serviceStart)),
    ...peerRequests
      .filter(({ outcome }) => outcome === "answered")
      .flatMap(({ from, to, seq, stamps }) => hopOf(`${from}>${to}`, seq, stamps.send)),
  ].sort((a, b) => a.answeredNs - b.answeredNs);
}

interface FaultGroup {
  readonly planned: readonly PlannedFault[];
  readonly begins: readonly Fault[];
}

/** The faults of each cycle: planned for the same moment, in the order of time. A cycle that was not reached is left out. */
function faultGroups(faults: readonly Fault[], planned: readonly PlannedFault[]): readonly FaultGroup[] {
  const moments = [...new Set(planned.map(({ atMs }) => atMs))].sort((a, b) => a - b);
  const begun = faults.filter(({ step }) => step === "begin").sort((a, b) => a.ns - b.ns);
  const used = new Set<Fault>();
  return moments.flatMap((atMs) => {
    const own = planned.filter((fault) => fault.atMs === atMs);
    const begins = own.flatMap(({ kind, target }) => {
      const found = begun.find((fault) => !used.has(fault) && fault.kind === kind && fault.target === target);
      if (found !== undefined) used.add(found);
      return found ?? [];
    });
    return begins.length === 0 ? [] : [{ planned: own, begins }];
  });
}

function victimsOf(planned: readonly PlannedFault[]): readonly string[] {
  return [...new Set(planned.map(({ victim, target }) => victim ?? target))];
}

interface Around {
  readonly faultNs: number;
  readonly nextNs: number | undefined;
  readonly beginNs: number;
  readonly endNs: number;
}

interface CycleFacts {
  readonly ended: readonly Ended[];
  readonly hops: readonly AnswerHop[];
  readonly notes: RunEvents["notes"];
}

function cycleOf(
  { kind, ...times }: Around & { readonly kind: string },
  victims: readonly Victim[],
  { ended, hops, notes }: CycleFacts,
): Cycle {
  const recoveryUs = largest(victims.map((victim) => victim.recoveryUs));
  const recoveredNs = recoveryUs === null ? undefined : times.faultNs + recoveryUs * NS_PER_US;
  const windows = windowsOf(ended, { ...times, recoveredNs });
  const { pre, post } = windows.paper;
  const rate = pre.seconds === 0 ? null : pre.right / pre.seconds;
  return {
    atS: (times.faultNs - times.beginNs) / NS_PER_S,
    kind,
    victims: [...victims],
    recoveryUs,
    // The first peer that notices: from then on the ring goes around it.
    detectUs: largest(
      victims.map(({ detections }) => (detections.length === 0 ? null : Math.min(...detections.map(({ us }) => us)))),
    ),
    usefulUs: largest(victims.map((victim) => victim.usefulUs)),
    resolutionUs: probeGapUs(notes, victims, times) ?? resolutionOf(hops, victims, recoveredNs, times.nextNs ?? times.endNs),
    ...windows,
    retention: retentionOf(pre, post),
    countRetention: countRetentionOf(pre, post),
    appendixRetention: retentionOf(windows.appendix.pre, windows.appendix.post),
    missed: rate === null ? null : rate * windows.during.seconds - windows.during.right,
  };
}

/** Null if one is missing: then the largest is not known. */
function largest(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null);
  return known.length < values.length || known.length === 0 ? null : Math.max(...known);
}

function resolutionOf(
  hops: readonly AnswerHop[],
  victims: readonly Victim[],
  fromNs: number | undefined,
  toNs: number,
): number | null {
  if (fromNs === undefined) return null;
  const gaps = victims.flatMap(({ victim }) => {
    const answered = new Set(
      hops
        .filter(({ through, answeredNs }) => through === victim && answeredNs >= fromNs && answeredNs < toNs)
        .map((each) => each.answeredNs),
    ).size;
    return answered === 0 ? [] : [(toNs - fromNs) / answered / NS_PER_US];
  });
  return mean(gaps);
}

/** The mean time between probes of one victim; null where none was asked twice. */
function probeGapUs(notes: RunEvents["notes"], victims: readonly Victim[], { faultNs, nextNs, endNs }: Around): number | null {
  const gaps = victims.flatMap(({ victim }) => {
    const sent = probesOf(notes, victim)
      .map(({ sentNs }) => sentNs)
      .filter((ns) => ns >= faultNs && ns < (nextNs ?? endNs));
    return sent.slice(1).map((ns, index) => (ns - (sent[index] ?? ns)) / NS_PER_US);
  });
  return mean(gaps);
}

/** Answers that were counted after the first one to the same question. */
function doubledIn({ notes }: RunEvents, measured: readonly RequestEvent[]): number {
  const ours = new Set<number | undefined>(measured.map(({ seq }) => seq));
  const counted = notes.filter(({ kind, seq }) => kind === "judged" && ours.has(seq)).map(({ seq }) => seq);
  return counted.length - new Set(counted).size;
}

/** Questions that reached an agent more than once as a question of the coordinator. */
function repeatedIn({ services }: RunEvents, measured: readonly RequestEvent[]): number {
  const ours = new Set(measured.map(({ seq }) => seq));
  const arrivals = services.filter(({ seq }) => ours.has(seq));
  return arrivals.length - new Set(arrivals.map(({ seq }) => seq)).size;
}

/** How often agents worked through a question to an answer after the first time, by its key. */
function executedAgainIn({ services, notes }: RunEvents, measured: readonly RequestEvent[]): number {
  const executions = new Map(measured.map(({ seq }) => [seq, 0]));
  const add = (seq: number | undefined, count: number): void => {
    const known = seq === undefined ? undefined : executions.get(seq);
    if (seq !== undefined && known !== undefined) executions.set(seq, known + count);
  };
  for (const { seq, stamps } of services) if (stamps.serviceEnd !== undefined) add(seq, 1);
  // Answered from the journal, or by the work that was under way.
  for (const { kind, seq } of notes) if (kind === "repeated") add(seq, -1);
  return [...executions.values()].reduce((sum, count) => sum + Math.max(0, count - 1), 0);
}

function timelineOf(ended: readonly Ended[], beginNs: number): Storm["timeline"] {
  const seconds = new Map<number, { right: number; other: number }>();
  for (const { ns, right } of ended) {
    const second = Math.max(0, Math.floor((ns - beginNs) / NS_PER_S));
    const counts = seconds.get(second) ?? { right: 0, other: 0 };
    if (right) counts.right++;
    else counts.other++;
    seconds.set(second, counts);
  }
  const last = Math.max(-1, ...seconds.keys());
  return Array.from({ length: last + 1 }, (_, second) => ({ second, ...(seconds.get(second) ?? { right: 0, other: 0 }) }));
}
