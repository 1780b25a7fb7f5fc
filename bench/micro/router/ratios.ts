import { type Conclusion, conclude, type Figure, type RatioDefinition, valuesOf, withFigure } from "../../harness/conclude.js";
import type { Titles } from "../../harness/report.js";
import type { Metric, Row } from "../../harness/result.js";
import { percentile } from "../../harness/statistics.js";
import type { Growth, Load } from "./workload.js";

/** The numbers of this bench by their published names. */

export const PLAIN = "plain";
export const AT_ONCE = "at once";
export const SEMANTIC = "semantic";

/** The names of arms; the floor runs twice. */
export const ARMS = { floor: "keywords", again: "keywords again", route: "route", embedded: "route with embeddings" } as const;

const MOST_PLAIN_MS = 1;
const MOST_SEMANTIC_MS = 50;

/** The targets of every run. */
export const TARGETS = [
  "decision_ms_plain",
  "decision_ms_plain_module_p99",
  "decision_cpu_ms_plain",
  "decision_ms_semantic",
] as const;

export const TITLES: Titles = {
  [PLAIN]: "One call per module, without embeddings",
  [AT_ONCE]: "All scenarios in one call, without embeddings",
  [SEMANTIC]: "One call per module, with sentence embeddings",
};

export interface Measured {
  readonly rows: readonly Row[];
  readonly loads: readonly Load[];
  readonly growth: Growth;
  /** For each module the median of its decisions, without embeddings: what interrupted a few of them is not in it. */
  readonly typicalMs: readonly number[];
  /** How long opening the embeddings took; none where they are not installed. */
  readonly openingsMs: readonly number[];
}

export const FLOORS: RatioDefinition = {
  key: "floor_vs_floor",
  section: PLAIN,
  of: ARMS.again,
  over: ARMS.floor,
  metric: "perSecond",
};
const RATIOS: readonly RatioDefinition[] = [
  FLOORS,
  { key: "decision_vs_keywords", section: PLAIN, of: ARMS.route, over: ARMS.floor, metric: "p50Us" },
];

/** All measurements, as medians with their spread. Sections that did not run have no key. */
export function concludeRouter(measured: Measured): Conclusion {
  const { rows, loads, growth, typicalMs, openingsMs } = measured;
  const plain = rowOf(rows, PLAIN, ARMS.route);
  const figures: readonly Figure[] = [
    ...decisionFigures("decision_ms_plain", plain, MOST_PLAIN_MS),
    { key: "decision_ms_plain_module_p99", values: slowestOfHundred(typicalMs), atMost: MOST_PLAIN_MS },
    { key: "decision_cpu_ms_plain", values: valuesIn(plain, "cpuUs").map((us) => us / 1000), atMost: MOST_PLAIN_MS },
    { key: "modules_per_second", values: valuesIn(rowOf(rows, AT_ONCE, ARMS.route), "perSecond") },
    ...decisionFigures("decision_ms_semantic", rowOf(rows, SEMANTIC, ARMS.embedded), MOST_SEMANTIC_MS),
    { key: "embeddings_open_ms", values: openingsMs },
    { key: "import_ms", values: loads.map(({ importMs }) => importMs) },
    { key: "first_decision_ms", values: loads.map(({ firstDecisionMs }) => firstDecisionMs) },
    { key: "loaded_heap_mb", values: loads.map(({ heapMb }) => heapMb) },
    { key: "loaded_rss_mb", values: loads.map(({ rssMb }) => rssMb) },
    { key: "grown_heap_mb", values: [growth.after.heapMb - growth.before.heapMb] },
    { key: "grown_rss_mb", values: [growth.after.rssMb - growth.before.rssMb] },
  ];
  return figures.filter(({ values }) => values.length > 0).reduce(withFigure, conclude(RATIOS, rows));
}

/** The key itself is the median decision, which has the target. The others show the spread by the clock, with all that interrupts. */
function decisionFigures(key: string, row: Row | undefined, atMost: number): readonly Figure[] {
  const inMs = (metric: Metric): readonly number[] => valuesIn(row, metric).map((us) => us / 1000);
  const [p50, p95, p99] = [inMs("p50Us"), inMs("p95Us"), inMs("p99Us")];
  return [
    { key, values: p50, atMost },
    { key: `${key}_p95`, values: p95 },
    { key: `${key}_p99`, values: p99 },
    { key: `${key}_mean`, values: valuesIn(row, "perSecond").map((perSecond) => 1000 / perSecond) },
    { key: `${key}_best_round`, values: lowest(p50) },
    { key: `${key}_p99_best_round`, values: lowest(p99) },
  ];
}

/** All but one module of a hundred are as fast. */
function slowestOfHundred(typicalMs: readonly number[]): readonly number[] {
  return typicalMs.length === 0 ? [] : [percentile(Float64Array.from(typicalMs).sort(), 0.99)];
}

/** Other load only adds to a time, so the lowest is the best estimate. */
function lowest(values: readonly number[]): readonly number[] {
  return values.length === 0 ? [] : [Math.min(...values)];
}

function rowOf(rows: readonly Row[], section: string, arm: string): Row | undefined {
  return rows.find((row) => row.section === section && row.arm === arm);
}

function valuesIn(row: Row | undefined, metric: Metric): readonly number[] {
  return row === undefined ? [] : valuesOf(row.series, metric);
}
