import {
  type Conclusion,
  conclude,
  type Figure,
  isSame,
  type RatioDefinition,
  ratiosOf,
  valuesOf,
  withFigure,
} from "../../harness/conclude.js";
import type { Row } from "../../harness/result.js";
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
  return [
    { key: `${key}_proxy_vs_proxy`, of: "proxy again", ...cpu },
    { key: `${key}_relay_vs_proxy`, of: "relay", ...calls, target: { atLeast: RELAY_AT_LEAST } },
    { key: `${key}_adopt_vs_proxy`, of: "adopt", ...calls, target: { atLeast: ADOPT_AT_LEAST } },
    { key: `${key}_sqlite_vs_proxy`, of: "adopt sqlite", ...calls },
    { key: `${key}_relay_cpu_vs_proxy`, of: "relay", ...cpu, target: { atMost: RELAY_CPU_AT_MOST } },
    { key: `${key}_adopt_cpu_vs_proxy`, of: "adopt", ...cpu, target: { atMost: ADOPT_CPU_AT_MOST } },
    { key: `${key}_relay_streams_vs_proxy`, of: "relay", ...streams },
    { key: `${key}_adopt_streams_vs_proxy`, of: "adopt", ...streams },
  ];
}

/** The latency an arm adds to a direct call, relative to the proxy's, per round. Undefined if an arm did not run. */
export function addedRatios(pair: Pair, arm: string, rows: readonly Row[]): readonly number[] | undefined {
  const section = sectionOf(pair, "latency");
  const [of, proxy, direct] = [arm, "proxy", "direct"].map((name) => {
    const row = rows.find((each) => each.section === section && each.arm === name);
    return row && valuesOf(row.series, "p50Us");
  });
  if (of === undefined || proxy === undefined || direct === undefined || of.length === 0) return undefined;
  return of.map((value, round) => {
    const least = direct[round] ?? Number.NaN;
    return (value - least) / ((proxy[round] ?? Number.NaN) - least);
  });
}

function addedFigures(pair: Pair, rows: readonly Row[]): readonly Figure[] {
  return ["relay", "adopt"].flatMap((arm) => {
    const values = addedRatios(pair, arm, rows);
    return values === undefined ? [] : [{ key: addedKey(pair, arm), values, atMost: ADDED_AT_MOST }];
  });
}

function addedKey({ key }: Pair, arm: string): string {
  return `${key}_${arm}_added_p50_vs_proxy`;
}

/** Whether the proxy of this pair is known well enough to be the same as itself. */
export function isProxySettled(pair: Pair, rows: readonly Row[]): boolean {
  const [floor] = ratiosFor(pair);
  return floor !== undefined && isSame(floor, rows) === true;
}

/** All measurements. The proxy against itself, over all pairs, shows whether the machine was quiet enough. */
export function concludeGateway(pairs: readonly Pair[], rows: readonly Row[]): Conclusion {
  const definitions = pairs.flatMap(ratiosFor);
  const again = definitions
    .filter(({ key }) => key.endsWith("_proxy_vs_proxy"))
    .flatMap((definition) => ratiosOf(definition, rows) ?? []);
  const figures = pairs.flatMap((pair) => addedFigures(pair, rows));
  const floors: readonly Figure[] = again.length === 0 ? [] : [{ key: "floor_vs_floor", values: again }];
  return [...floors, ...figures].reduce(withFigure, conclude(definitions, rows));
}

/** The targets of a run over these pairs. */
export function targetsOf(pairs: readonly Pair[]): readonly string[] {
  return pairs.flatMap((pair) => [
    ...ratiosFor(pair).flatMap(({ key, target }) => (target === undefined ? [] : [key])),
    ...["relay", "adopt"].map((arm) => addedKey(pair, arm)),
  ]);
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
