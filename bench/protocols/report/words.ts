import { short } from "../../harness/table.js";
import type { Metric, Segment } from "../result/index.js";

interface MetricWords {
  readonly title: string;
  readonly unit: "ms" | "s" | "per s" | "%" | "bytes" | "MB" | "µs" | "";
  /** From the number in the result to the unit. */
  readonly scale: number;
}

const US_PER_MS = 1_000;
const ms = (title: string): MetricWords => ({ title, unit: "ms", scale: 1 / US_PER_MS });

export const METRIC_WORDS: Readonly<Record<Metric, MetricWords>> = {
  meanUs: ms("mean latency"),
  sdUs: ms("standard deviation of the latency"),
  minUs: ms("least latency"),
  p50Us: ms("median latency"),
  p90Us: ms("P90 latency"),
  p95Us: ms("P95 latency"),
  p99Us: ms("P99 latency"),
  p999Us: ms("P99.9 latency"),
  maxUs: ms("largest latency"),
  cv: { title: "variation within a run", unit: "%", scale: 100 },
  overheadMeanUs: ms("mean overhead"),
  overheadP50Us: ms("median overhead"),
  overheadP95Us: ms("P95 overhead"),
  adapterMeanUs: ms("mean adapter time per message"),
  firstTokenP50Us: ms("median time to the first token"),
  firstTokenAddedP50Us: ms("median time of the first token from handler to caller"),
  throughputPerS: { title: "throughput", unit: "per s", scale: 1 },
  offeredPerS: { title: "offered load", unit: "per s", scale: 1 },
  durationS: { title: "duration", unit: "s", scale: 1 },
  successRate: { title: "answered", unit: "%", scale: 100 },
  dropRate: { title: "dropped", unit: "%", scale: 100 },
  balanceVariance: { title: "load-balance variance", unit: "", scale: 1 },
  wireBytesPerRequest: { title: "bytes on the wire per request", unit: "bytes", scale: 1 },
  cpuUsPerRequest: { title: "CPU time per request", unit: "µs", scale: 1 },
  recoveryUs: ms("recovery time"),
  usefulUs: ms("time from the open listener to the first right answer"),
  retention: { title: "retention", unit: "%", scale: 100 },
  rssBytes: { title: "memory of all agents", unit: "MB", scale: 1e-6 },
};

export const SEGMENT_WORDS: Readonly<Record<Segment, string>> = {
  clientQueue: "client queue",
  encode: "encode",
  requestNetwork: "request on the wire",
  requestDecode: "decode at the agent",
  serverQueue: "agent queue",
  service: "handler",
  replyEncode: "encode the reply",
  replyNetwork: "reply on the wire",
  replyDecode: "decode the reply",
};

/** A number of the result in the unit of its metric, without the unit. */
export function figure(metric: Metric, value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : short(value * METRIC_WORDS[metric].scale);
}

/** With the unit. */
export function quantity(metric: Metric, value: number | null | undefined): string {
  if (value === null || value === undefined) return "–";
  const { unit } = METRIC_WORDS[metric];
  return `${figure(metric, value)}${unit === "" ? "" : ` ${unit}`}`;
}

export function range(metric: Metric, low: number | null | undefined, high: number | null | undefined): string {
  return low === null || low === undefined || high === null || high === undefined
    ? "–"
    : `${figure(metric, low)} to ${figure(metric, high)}`;
}

/** Name and unit: the head of a column or an axis. */
export function heading(metric: Metric): string {
  const { title, unit } = METRIC_WORDS[metric];
  return unit === "" ? title : `${title} (${unit})`;
}

/** A p value as it is printed: never 0. */
export function chanceOf(p: number | null | undefined): string {
  if (p === null || p === undefined) return "–";
  return p < 0.0001 ? "< 0.0001" : p.toFixed(4);
}
