import { percentile } from "../../harness/statistics.js";
import { coordinatorOf, onceProblems } from "./coordinator.js";
import type { BenchEventOf, RequestEvent, ServiceEvent } from "./event.js";
import { adapterUs, firstTokenAddedUs, firstTokenUs, latencyUs, overheadUs, segmentsOf } from "./latency.js";
import { mean, meanOf, standardDeviation } from "./means.js";
import type { Condition, Plan } from "./plan.js";
import { type Metric, QUANTILES, type RunSummary, SEGMENTS } from "./result.js";
import type { RunEvents } from "./run-events.js";
import { stormOf } from "./storm.js";
import type { Storm } from "./storm-schema.js";
import { witnessProblems } from "./witness.js";
import { balanceVariance, workersOf } from "./workers.js";

const NS_PER_S = 1_000_000_000;
/** Different error texts that are counted one by one in a run. */
const MAX_ERRORS = 20;

/** The numbers of one run. Pure: the same events give the same numbers. */
export function summariseRun(events: RunEvents, plan: Plan): RunSummary {
  const { planned, attempt, ended } = events;
  const measured = events.requests.filter(({ phase }) => phase === "measure");
  const services = new Map(events.services.map((service) => [service.seq, service]));
  const answered = measured.filter(({ outcome }) => outcome === "answered");
  const condition = conditionOf(plan, planned.condition);
  const storm = stormOf(events, condition, plan);
  return {
    run: planned.run,
    block: planned.block,
    position: planned.position,
    arm: planned.arm,
    condition: planned.condition,
    attempt,
    status: ended?.status ?? "interrupted",
    reason: ended?.reason ?? (ended === undefined ? "the benchmark ended before the run did" : null),
    invalid:
      ended?.status === "complete"
        ? [...witnessProblems(events, condition), ...onceProblems(events, condition, plan.settings)]
        : [],
    requests: countsOf(measured, events.services),
    metrics: { ...metricsOf(events, measured, { plan, services }), ...stormMetrics(storm) },
    segmentsUs: segmentMeans(answered, services),
    bytes: bytesOf(events, measured, answered),
    distribution: distributionOf(latenciesOf(measured, plan)),
    errors: errorsOf(measured),
    workers: workersOf(events, measured, plan.settings.messageTimeoutMs),
    coordinator: coordinatorOf(events, measured),
    ...(storm === undefined ? {} : { storm }),
    edges: lastWires(events, "end").map(({ edge, connections, sent, received }) => ({ edge, connections, sent, received })),
  };
}

export function conditionOf({ conditions }: Plan, id: string): Condition {
  const found = conditions.find((each) => each.id === id);
  if (found === undefined) throw new Error(`the plan has no condition ${id}`);
  return found;
}

function countsOf(measured: readonly RequestEvent[], services: readonly ServiceEvent[]): RunSummary["requests"] {
  const count = (outcome: RequestEvent["outcome"]) => measured.filter((request) => request.outcome === outcome).length;
  const dropped = count("dropped");
  const ours = new Set(measured.map(({ seq }) => seq));
  const arrivals = services.filter(({ seq }) => ours.has(seq));
  const received = new Set(arrivals.map(({ seq }) => seq)).size;
  return {
    sent: measured.length - dropped,
    answered: count("answered"),
    failed: count("failed"),
    timeout: count("timeout"),
    dropped,
    retries: measured.reduce((sum, { attempts }) => sum + Math.max(0, attempts - 1), 0),
    networkErrors: measured.reduce((sum, { networkErrors = 0 }) => sum + networkErrors, 0),
    received,
    duplicates: arrivals.length - received,
  };
}

interface Known {
  readonly plan: Plan;
  readonly services: ReadonlyMap<number, ServiceEvent>;
}

function latenciesOf(measured: readonly RequestEvent[], { settings }: Plan): readonly number[] {
  return present(measured.map((request) => latencyUs(request, settings.messageTimeoutMs))).sort((a, b) => a - b);
}

type StormMetric = "recoveryUs" | "usefulUs" | "retention";

/** Means over the cycles that have a value: a cycle without recovery, or with nothing before it, is in none. */
function stormMetrics(storm: Storm | undefined): Readonly<Record<StormMetric, number | null>> {
  const over = (metric: StormMetric) =>
    mean((storm?.cycles ?? []).flatMap((cycle) => (cycle[metric] === null ? [] : cycle[metric])));
  return { recoveryUs: over("recoveryUs"), usefulUs: over("usefulUs"), retention: over("retention") };
}

function metricsOf(
  events: RunEvents,
  measured: readonly RequestEvent[],
  { plan, services }: Known,
): Omit<RunSummary["metrics"], StormMetric> {
  const sorted = latenciesOf(measured, plan);
  const answered = measured.filter(({ outcome }) => outcome === "answered");
  const overheads = present(answered.map((request) => overheadUs(request, services.get(request.seq)))).sort((a, b) => a - b);
  const firsts = present(answered.map(firstTokenUs)).sort((a, b) => a - b);
  const added = present(answered.map((request) => firstTokenAddedUs(request, services.get(request.seq)))).sort((a, b) => a - b);
  const sent = measured.filter(({ outcome }) => outcome !== "dropped").length;
  const seconds = windowSeconds(events);
  const sd = standardDeviation(sorted);
  const average = mean(sorted);
  const values: Readonly<Record<Exclude<Metric, StormMetric>, number | null>> = {
    meanUs: average,
    sdUs: sd,
    minUs: at(sorted, 0),
    p50Us: at(sorted, 0.5),
    p90Us: at(sorted, 0.9),
    p95Us: at(sorted, 0.95),
    p99Us: at(sorted, 0.99),
    p999Us: at(sorted, 0.999),
    maxUs: at(sorted, 1),
    cv: sd === null || average === null || average === 0 ? null : sd / average,
    overheadMeanUs: mean(overheads),
    overheadP50Us: at(overheads, 0.5),
    overheadP95Us: at(overheads, 0.95),
    adapterMeanUs: mean(present(answered.map((request) => adapterUs(request, services.get(request.seq))))),
    firstTokenP50Us: at(firsts, 0.5),
    firstTokenAddedP50Us: at(added, 0.5),
    throughputPerS: per(answered.length, seconds),
    offeredPerS: per(measured.length, seconds),
    durationS: seconds,
    successRate: per(answered.length, sent),
    dropRate: per(measured.length - sent, measured.length),
    balanceVariance: balanceVariance(workersOf(events, measured, plan.settings.messageTimeoutMs)),
    wireBytesPerRequest: per(windowBytes(events), sent),
    cpuUsPerRequest: per(windowCpuUs(events), answered.length),
    rssBytes: rssOf(events),
  };
  return values;
}

function present(values: readonly (number | undefined)[]): number[] {
  return values.filter((value) => value !== undefined);
}

function at(sorted: readonly number[], share: number): number | null {
  return sorted.length === 0 ? null : percentile(sorted, share);
}

function per(amount: number | null, of: number | null): number | null {
  return amount === null || of === null || of === 0 ? null : amount / of;
}

function distributionOf(sorted: readonly number[]): number[] {
  return sorted.length === 0 ? [] : QUANTILES.map((share) => percentile(sorted, share));
}

function phaseNs({ phases }: RunEvents, phase: "measure" | "end"): number | undefined {
  return phases.find((each) => each.phase === phase)?.ns;
}

function windowSeconds(events: RunEvents): number | null {
  const [from, to] = [phaseNs(events, "measure"), phaseNs(events, "end")];
  return from === undefined || to === undefined ? null : (to - from) / NS_PER_S;
}

function lastWires({ wires }: RunEvents, phase: BenchEventOf<"wire">["phase"]): readonly BenchEventOf<"wire">[] {
  return [...new Map(wires.filter((wire) => wire.phase === phase).map((wire) => [wire.edge, wire])).values()];
}

/** Bytes of all edges in the measured window, both directions. */
function windowBytes(events: RunEvents): number | null {
  const total = (phase: "measure" | "end") =>
    lastWires(events, phase).reduce((sum, { sent, received }) => sum + sent + received, 0);
  return phaseNs(events, "end") === undefined ? null : total("end") - total("measure");
}

/** CPU time of caller and agents in the measured window. A process that was started again counts from zero. */
function windowCpuUs({ usages }: RunEvents): number | null {
  const ends = usages.filter(({ phase }) => phase === "end");
  if (ends.length === 0) return null;
  return ends.reduce((sum, { process, cpuUs }) => {
    const before = usages.find((usage) => usage.process === process && usage.phase === "measure")?.cpuUs ?? 0;
    return sum + (cpuUs >= before ? cpuUs - before : cpuUs);
  }, 0);
}

function rssOf({ usages }: RunEvents): number | null {
  const ends = usages.filter(({ phase }) => phase === "end");
  return ends.length === 0 ? null : ends.reduce((sum, { rssBytes }) => sum + rssBytes, 0);
}

function segmentMeans(answered: readonly RequestEvent[], services: ReadonlyMap<number, ServiceEvent>): RunSummary["segmentsUs"] {
  const parts = answered.map((request) => segmentsOf(request, services.get(request.seq)));
  const entries = SEGMENTS.map((segment) => {
    const shown = parts.some((each) => each[segment] !== null);
    return [segment, shown ? mean(parts.map((each) => each[segment] ?? 0)) : null];
  });
  return Object.fromEntries(entries) as RunSummary["segmentsUs"]; // one entry per segment
}

function bytesOf(events: RunEvents, measured: readonly RequestEvent[], answered: readonly RequestEvent[]): RunSummary["bytes"] {
  const payload = meanOf(answered, ({ payloadBytes, answerBytes }) => payloadBytes + answerBytes);
  const shown = answered.length > 0 && answered.every(({ bodyBytes }) => bodyBytes !== undefined);
  const bodies = shown ? meanOf(answered, ({ bodyBytes }) => (bodyBytes?.sent ?? 0) + (bodyBytes?.received ?? 0)) : null;
  const wire = per(windowBytes(events), measured.filter(({ outcome }) => outcome !== "dropped").length);
  const envelope = bodies === null || payload === null ? null : bodies - payload;
  const inside = bodies ?? payload;
  return { payload, envelope, transport: wire === null || inside === null ? null : wire - inside };
}

function errorsOf(measured: readonly RequestEvent[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { error } of measured) {
    if (error === undefined) continue;
    const key = error in counts || Object.keys(counts).length < MAX_ERRORS ? error : "other";
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}
