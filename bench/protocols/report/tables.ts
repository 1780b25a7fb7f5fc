import type { Table } from "../../harness/table.js";
import { short } from "../../harness/table.js";
import {
  type BenchResult,
  type Comparison,
  equalProtection,
  type Manifest,
  type Metric,
  protectionText,
  type RunSummary,
  SEGMENTS,
  whyNotJudged,
} from "../result/index.js";
import { conclusionOf, deltaLabel } from "../statistics/index.js";
import { BYTE_PARTS, BYTE_WORDS, type LoadCurve } from "./breakdown-charts.js";
import type { ConditionView } from "./view.js";
import { chanceOf, figure, heading, METRIC_WORDS, quantity, range, SEGMENT_WORDS } from "./words.js";

const MS_PER_US = 1 / 1_000;

export function estimateTable({ arms, primary }: ConditionView): Table {
  return {
    title: `${METRIC_WORDS[primary].title}, mean over runs`,
    head: [
      "arm",
      heading(primary),
      "95 % interval",
      "median over runs",
      "protection",
      "runs",
      "run-to-run variation",
      "variation in a run",
    ],
    rows: arms.map(({ arm, summary }) => {
      const { mean, median, low, high, cv, values } = summary.metrics[primary];
      const inRun = summary.metrics.cv.mean;
      const protection = protectionText(summary.protection);
      return [
        arm.id,
        figure(primary, mean),
        range(primary, low, high),
        figure(primary, median),
        protection,
        String(values.length),
        percent(cv),
        percent(inRun),
      ];
    }),
    note:
      "Intervals are BCa bootstrap intervals over runs (10,000 resamples), and absent below five runs. " +
      "Protection: how callers are known, and what is signed and sealed. An arm with more of it does more work.",
  };
}

export function pairTable(view: ConditionView, pairs: readonly Comparison[], marginUs: number): Table {
  const { primary } = view;
  return {
    title: `Differences of the ${METRIC_WORDS[primary].title}, first minus second`,
    head: [
      "pair",
      heading(primary),
      "95 % interval",
      "p (Holm)",
      "p (equal)",
      "Cliff's δ",
      "Cohen's d",
      "detectable",
      "conclusion",
    ],
    rows: pairs.map((pair) => [
      `${pair.a} − ${pair.b}`,
      figure(primary, pair.shift),
      range(primary, pair.low, pair.high),
      chanceOf(pair.adjustedP),
      chanceOf(pair.equivalenceP),
      pair.cliffsDelta === null ? "–" : `${pair.cliffsDelta.toFixed(2)} (${deltaLabel(pair.cliffsDelta)})`,
      pair.cohensD === null ? "–" : pair.cohensD.toFixed(2),
      figure(primary, pair.detectable),
      `${conclusionOf(pair)}${isUnequallyProtected(view, pair) ? ", not equally protected" : ""}`,
    ]),
    note:
      `Hodges–Lehmann shift with its interval. p (Holm): Welch's test, corrected over all ${pairs.length} pairs. ` +
      `p (equal): two one-sided tests against a margin of ${quantity("meanUs", marginUs)}. Detectable: the smallest difference that this ` +
      "many runs would find with 80 % power. Undecided means: too few runs to say either.",
  };
}

/** Such a pair is no comparison of like with like. */
function isUnequallyProtected({ arms }: ConditionView, { a, b }: Comparison): boolean {
  const of = (id: string) => arms.find(({ arm }) => arm.id === id)?.summary.protection ?? null;
  return !equalProtection(of(a), of(b));
}

const PERCENTILES: readonly Metric[] = ["minUs", "p50Us", "p90Us", "p95Us", "p99Us", "p999Us", "maxUs"];

export function percentileTable({ arms }: ConditionView): Table {
  return {
    title: "Latency in milliseconds, mean over runs",
    head: ["arm", "least", "P50", "P90", "P95", "P99", "P99.9", "largest"],
    rows: arms.map(({ arm, summary }) => [arm.id, ...PERCENTILES.map((metric) => figure(metric, summary.metrics[metric].mean))]),
    note: "From the intended start of each request. A request that timed out counts as the timeout.",
  };
}

/** Undefined where no arm streams its answers. */
export function firstTokenTable({ arms }: ConditionView): Table | undefined {
  const shown = arms.filter(({ summary }) => summary.metrics.firstTokenP50Us.mean !== null);
  if (shown.length === 0) return undefined;
  return {
    title: "The first token, median in milliseconds, mean over runs",
    head: ["arm", "after the request", "from handler to caller", "whole answer"],
    rows: shown.map(({ arm, summary: { metrics } }) => [
      arm.id,
      figure("firstTokenP50Us", metrics.firstTokenP50Us.mean),
      figure("firstTokenAddedP50Us", metrics.firstTokenAddedP50Us.mean),
      figure("p50Us", metrics.p50Us.mean),
    ]),
    note: "A protocol that does not stream delivers the first token with the whole answer.",
  };
}

export function timeTable({ arms }: ConditionView): Table {
  return {
    title: "Parts of the mean latency in milliseconds",
    head: ["arm", ...SEGMENTS.map((segment) => SEGMENT_WORDS[segment])],
    rows: arms.map(({ arm, summary }) => [
      arm.id,
      ...SEGMENTS.map((segment) => {
        const value = summary.segmentsUs[segment];
        return value === null ? "–" : short(value * MS_PER_US);
      }),
    ]),
    note: "A dash: the implementation does not show this part; its time is in the next one.",
  };
}

export function byteTable({ arms }: ConditionView): Table {
  return {
    title: "Bytes per request, both directions",
    head: ["arm", ...BYTE_PARTS.map((part) => BYTE_WORDS[part]), "on the wire"],
    rows: arms.map(({ arm, summary }) => [
      arm.id,
      ...BYTE_PARTS.map((part) => bytes(summary.bytes[part])),
      bytes(summary.metrics.wireBytesPerRequest.mean),
    ]),
    note: "Counted by the proxy in the path of every connection.",
  };
}

export function outcomeTable({ arms }: ConditionView): Table {
  return {
    title: "Requests, throughput, CPU and memory",
    head: ["arm", "answered of sent", "95 % interval (%)", "per s", "CPU µs per request", "memory (MB)", "valid runs"],
    rows: arms.map(({ arm, summary: { success, metrics, runs, validRuns } }) => [
      arm.id,
      `${success.answered} of ${success.sent}`,
      success.low === null || success.high === null ? "–" : `${percentFigure(success.low)} to ${percentFigure(success.high)}`,
      figure("throughputPerS", metrics.throughputPerS.mean),
      figure("cpuUsPerRequest", metrics.cpuUsPerRequest.mean),
      figure("rssBytes", metrics.rssBytes.mean),
      `${validRuns} of ${runs}`,
    ]),
  };
}

export function loadTable(curves: readonly LoadCurve[]): Table {
  return {
    title: "P95 latency under each load, and the knee",
    head: ["arm", "condition", "offered per s", "answered per s", "P95 (ms)", "knee"],
    rows: curves.flatMap(({ arm, points, knee }) =>
      points.map((point) => [
        arm,
        point.condition,
        point.offered === null ? "–" : short(point.offered),
        short(point.throughput),
        short(point.p95Us * MS_PER_US),
        point === knee ? "knee" : "",
      ]),
    ),
    note: "The knee is the highest offered load of which 99 % is answered, and whose P95 is at most twice that of the lowest load.",
  };
}

export function controlTable({ controls, plan }: BenchResult): Table {
  const notJudged = plan.conditions.flatMap((condition) => {
    const why = whyNotJudged(condition, plan);
    return why === undefined ? [] : [["both", condition.id, "–", "–", "–", "–", why]];
  });
  return {
    title: "Controls",
    head: [
      "control",
      "condition",
      "median difference (ms)",
      "95 % interval (ms)",
      "in each block (ms)",
      "pairs of requests",
      "result",
    ],
    rows: [
      ...controls.map(({ control, condition, medianUs, lowUs, highUs, blocks, pairs, passed }) => [
        control,
        condition,
        figure("meanUs", medianUs),
        range("meanUs", lowUs, highUs),
        blocks.map((block) => figure("meanUs", block.medianUs)).join(" · ") || "–",
        String(pairs),
        passed ? "passed" : "FAILED",
      ]),
      ...notJudged,
    ],
  };
}

/** What every table of runs shows of one. */
export const RUN_HEAD = ["arm", "condition", "status", "answered of sent", "P50 (ms)", "P95 (ms)"] as const;

export function runCells({ arm, condition, status, invalid, requests, metrics }: RunSummary): readonly string[] {
  return [
    arm,
    condition,
    invalid.length > 0 ? "INVALID" : status,
    `${requests.answered} of ${requests.sent}`,
    figure("p50Us", metrics.p50Us),
    figure("p95Us", metrics.p95Us),
  ];
}

export function runTable({ runs }: BenchResult): Table {
  return {
    title: "All runs, in the order in which they were measured",
    head: ["run", "block", ...RUN_HEAD, "per s", "remarks"],
    rows: runs.map((each) => [
      each.run,
      String(each.block),
      ...runCells(each),
      figure("throughputPerS", each.metrics.throughputPerS),
      [
        ...(each.reason === null ? [] : [each.reason]),
        ...each.invalid,
        ...Object.entries(each.errors).map(([error, count]) => `${count} × ${error}`),
      ].join("; "),
    ]),
  };
}

export function manifestTable(manifest: Manifest): Table {
  const { machine, settings, events } = manifest;
  const rows: readonly (readonly [string, unknown])[] = [
    ["koine", manifest.koine],
    ["commit", `${manifest.commit ?? "unknown"}${manifest.dirty === true ? " (with uncommitted changes)" : ""}`],
    ["lock file", manifest.lock],
    ["Node", manifest.node],
    ...Object.entries(manifest.versions),
    [
      "machine",
      `${machine.cpu}, ${machine.cores} cores, ${short(machine.memoryBytes / 1e9)} GB, governor ${machine.governor ?? "unknown"}`,
    ],
    ["system", `${machine.system} ${machine.kernel} ${machine.architecture}, clock ${machine.clock}`],
    [
      "load before and after",
      `${short(manifest.loadBefore)} and ${manifest.loadAfter === null ? "unknown" : short(manifest.loadAfter)}`,
    ],
    ["started", manifest.startedAt],
    ["ended", manifest.endedAt],
    ...Object.entries(settings),
    ["block order", manifest.blockOrder.map((order) => order.join(", ")).join(" | ")],
    ...manifest.inputs.map(
      ({ role, name, sha256, bytes: size }) => [`${role} ${name}`, `${size} bytes, sha256 ${sha256}`] as const,
    ),
    ...Object.entries(manifest.protection ?? {}).map(([arm, each]) => [`protection of ${arm}`, protectionText(each)] as const),
    ["decoding", manifest.decoding === null ? "no model" : JSON.stringify(manifest.decoding)],
    ["events", events === null ? "not finished" : `${events.lines} lines, ${events.bytes} bytes, sha256 ${events.sha256}`],
  ];
  return { title: "Manifest", head: ["what", "value"], rows: rows.map(([name, value]) => [name, textOf(value)]) };
}

function textOf(value: unknown): string {
  if (value === null || value === undefined) return "–";
  return Array.isArray(value) ? value.join(", ") || "none" : String(value);
}

function percent(value: number | null): string {
  return value === null ? "–" : `${percentFigure(value)} %`;
}

function percentFigure(share: number): string {
  return (share * 100).toFixed(1);
}

function bytes(value: number | null): string {
  return value === null ? "–" : Math.round(value).toLocaleString("en-US");
}
