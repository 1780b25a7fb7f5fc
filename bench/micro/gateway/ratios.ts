import {
  type Conclusion,
  conclude,
  type Figure,
  isSame,
  isSettled,
  type RatioDefinition,
  ratiosOf,
  tooCloseToCall,
  withFigure,
} from "../../harness/conclude.js";
import type { Row, Verdict } from "../../harness/result.js";
import { medianInterval, pairedRatios } from "../../harness/statistics.js";
import { hasStreams, type Pair } from "./pairs.js";

/** The published numbers of this benchmark and their targets. */

/** Calls per second. */
const RELAY_AT_LEAST = 0.7;
const ADOPT_AT_LEAST = 0.6;
/** CPU time of the gateway's process per call. */
const RELAY_CPU_AT_MOST = 1.4;
const ADOPT_CPU_AT_MOST = 2.2;
const ADDED_AT_MOST = 1.5;

export type SectionKind = "throughput" | "latency" | "streams";

export function sectionOf({ name }: Pair, kind: SectionKind): string {
  return `${name} ${kind}`;
}

export const TITLES: Readonly<Record<SectionKind, string>> = {
  throughput: "16 in flight",
  latency: "one at a time",
  streams: "streams of twenty events, 16 at a time",
};

function ratiosFor(pair: Pair): readonly RatioDefinition[] {
  const { key } = pair;
  const calls = { section: sectionOf(pair, "throughput"), over: "proxy", metric: "perSecond" } as const;
  const cpu = { ...calls, metric: "cpuUs" } as const;
  const streams = { ...calls, section: sectionOf(pair, "streams") } as const;
  const streamsCpu = { ...streams, metric: "cpuUs" } as const;
  const sends: readonly RatioDefinition[] = [
    { key: floorKey(pair, "throughput"), of: "proxy again", ...cpu },
    { key: `${key}_relay_vs_proxy`, of: "relay", ...calls, target: { atLeast: RELAY_AT_LEAST } },
    { key: `${key}_adopt_vs_proxy`, of: "adopt", ...calls, target: { atLeast: ADOPT_AT_LEAST } },
    { key: `${key}_sqlite_vs_proxy`, of: "adopt sqlite", ...calls },
    { key: `${key}_relay_cpu_vs_proxy`, of: "relay", ...cpu, target: { atMost: RELAY_CPU_AT_MOST } },
    { key: `${key}_adopt_cpu_vs_proxy`, of: "adopt", ...cpu, target: { atMost: ADOPT_CPU_AT_MOST } },
    { key: `${key}_sqlite_cpu_vs_proxy`, of: "adopt sqlite", ...cpu },
  ];
  if (!hasStreams(pair)) return sends;
  return [
    ...sends,
    { key: floorKey(pair, "streams"), of: "proxy again", ...streamsCpu },
    { key: `${key}_relay_streams_vs_proxy`, of: "relay", ...streams },
    { key: `${key}_adopt_streams_vs_proxy`, of: "adopt", ...streams },
    { key: `${key}_relay_streams_cpu_vs_proxy`, of: "relay", ...streamsCpu, target: { atMost: RELAY_CPU_AT_MOST } },
    { key: `${key}_adopt_streams_cpu_vs_proxy`, of: "adopt", ...streamsCpu, target: { atMost: ADOPT_CPU_AT_MOST } },
  ];
}

/** The proxy against itself. */
function floorKey({ key }: Pair, kind: SectionKind): string {
  const what = { throughput: "", latency: "_added", streams: "_streams" }[kind];
  return `${key}${what}_proxy_vs_proxy`;
}

/** The latency an arm adds to a direct call, per round, in microseconds. Undefined if an arm did not run. */
function addedTimes(pair: Pair, arm: string, rows: readonly Row[]): readonly number[] | undefined {
  const [of, direct] = [arm, "direct"].map(
    (name) => rows.find((each) => each.section === sectionOf(pair, "latency") && each.arm === name)?.series,
  );
  if (of === undefined || direct === undefined || of.length === 0) return undefined;
  // Only calls beside each other have a difference of their own; those of h2load are compared by their medians.
  return of.map(({ addedUs, p50Us = Number.NaN }, round) => addedUs ?? p50Us - (direct[round]?.p50Us ?? Number.NaN));
}

/** The latency an arm adds, relative to the proxy's, per round. Undefined if an arm did not run. */
export function addedRatios(pair: Pair, arm: string, rows: readonly Row[]): readonly number[] | undefined {
  const [of, proxy] = [addedTimes(pair, arm, rows), addedTimes(pair, "proxy", rows)];
  return of && proxy && pairedRatios(of, proxy);
}

function addedFigures(pair: Pair, rows: readonly Row[]): readonly Figure[] {
  const arms = ["proxy", "relay", "adopt", "adopt sqlite"];
  const figure = (key: string, values: readonly number[] | undefined, atMost?: number): readonly Figure[] =>
    values === undefined ? [] : [{ key, values, atMost }];
  return [
    ...arms.flatMap((arm) => figure(`${pair.key}_${arm.replace(" ", "_")}_added_us`, addedTimes(pair, arm, rows))),
    ...figure(floorKey(pair, "latency"), addedRatios(pair, "proxy again", rows)),
    ...["relay", "adopt"].flatMap((arm) => figure(addedKey(pair, arm), addedRatios(pair, arm, rows), ADDED_AT_MOST)),
  ];
}

function addedKey({ key }: Pair, arm: string): string {
  return `${key}_${arm}_added_p50_vs_proxy`;
}

/** Whether the proxy of this pair is known well enough to be the same as itself. */
export function isProxySettled(pair: Pair, kind: SectionKind, rows: readonly Row[]): boolean {
  if (kind === "latency") return isSettled(medianInterval(addedRatios(pair, "proxy again", rows) ?? []));
  const floor = ratiosFor(pair).find(({ key }) => key === floorKey(pair, kind));
  return floor !== undefined && isSame(floor, rows) === true;
}

/**
 * All measurements. The proxy against itself, over all pairs, shows whether the machine was quiet enough: by its CPU time
 * (`floor_vs_floor`) and by the latency that it adds (`added_floor_vs_floor`).
 */
export function concludeGateway(pairs: readonly Pair[], rows: readonly Row[]): Conclusion {
  const definitions = pairs.flatMap(ratiosFor);
  const again = definitions.filter(({ of }) => of === "proxy again").flatMap((definition) => ratiosOf(definition, rows) ?? []);
  const added = pairs.flatMap((pair) => addedRatios(pair, "proxy again", rows) ?? []);
  const figures = pairs.flatMap((pair) => addedFigures(pair, rows));
  const floors: readonly Figure[] = [
    { key: "floor_vs_floor", values: again },
    { key: ADDED_FLOOR, values: added },
  ];
  return [...floors.filter(({ values }) => values.length > 0), ...figures].reduce(withFigure, conclude(definitions, rows));
}

const ADDED_FLOOR = "added_floor_vs_floor";

/** The targets of a run over these pairs. */
export function targetsOf(pairs: readonly Pair[]): readonly string[] {
  return pairs.flatMap((pair) => Object.values(targetsBySection(pair)).flat());
}

function targetsBySection(pair: Pair): Readonly<Record<SectionKind, readonly string[]>> {
  const of = (kind: SectionKind): readonly string[] =>
    ratiosFor(pair).flatMap(({ key, section, target }) =>
      target !== undefined && section === sectionOf(pair, kind) ? [key] : [],
    );
  const latency = ["relay", "adopt"].map((arm) => addedKey(pair, arm));
  return { throughput: of("throughput"), latency, streams: of("streams") };
}

/** Targets whose own floor, the proxy of the same pair and section, did not come out as itself: they are not decided. */
export function undecidedTargets(pairs: readonly Pair[], { interval }: Pick<Conclusion, "interval">): readonly string[] {
  return pairs.flatMap((pair) =>
    // The record's own keys.
    (Object.entries(targetsBySection(pair)) as [SectionKind, readonly string[]][]).flatMap(([kind, keys]) =>
      isSettled(interval[floorKey(pair, kind)]) ? [] : keys,
    ),
  );
}

/** By the targets that were decided: a noisy section takes nothing from the others. */
export function verdictOfGateway(pairs: readonly Pair[], conclusion: Conclusion): Verdict {
  const undecided = new Set([...undecidedTargets(pairs, conclusion), ...tooCloseToCall(conclusion)]);
  const wanted = targetsOf(pairs);
  if (wanted.some((key) => !undecided.has(key) && conclusion.targets[key]?.met === false)) return "missed";
  if (wanted.some((key) => conclusion.targets[key] === undefined)) return "incomplete";
  return undecided.size > 0 ? "inconclusive" : "met";
}

export function titlesOf(pairs: readonly Pair[]): Readonly<Record<string, string>> {
  const kinds = Object.entries(TITLES) as readonly [SectionKind, string][]; // the record's own keys
  return Object.fromEntries(
    pairs.flatMap((pair) =>
      kinds
        .filter(([kind]) => kind !== "streams" || hasStreams(pair))
        .map(([kind, title]) => [sectionOf(pair, kind), `${pair.front.id} in front of ${pair.behind.id}, ${title}`]),
    ),
  );
}
