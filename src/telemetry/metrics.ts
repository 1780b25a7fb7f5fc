import type { Maybe } from "../envelope/index.js";
import type { Edge } from "./edge.js";
import { type Exemplar, Exemplars } from "./exemplars.js";
import { type MetricNames, withOpenNames } from "./metric-names.js";
import { type SeriesLimits, SeriesTable } from "./series.js";

/** The metrics of one edge, resolved once so that the hot path only adds numbers. */
export interface EdgeMeter {
  /** REQUEST_LATENCY: from the start of a call to the end of its answer. The trace becomes the exemplar of its bucket. */
  observe(latencySeconds: number, traceId?: Maybe<string>): void;
  /** REQUEST_FAILURES */
  fail(): void;
  /** MSG_BYTES: serialised protocol payload, both directions, counted at the transport. */
  bytes(count: number): void;
  /** MSG_BYTES_PAYLOAD: content only, both directions. */
  payload(count: number): void;
  /** MSG_BYTES_RETRY_OVERHEAD: what is sent again, and everything around the content. */
  overhead(count: number): void;
}

/** One number per edge. */
export interface Cell {
  add(amount: number): void;
  set(value: number): void;
}
export interface CellFamily {
  edge(edge: Edge): Cell;
  /** Removes the series of an edge that no longer exists. */
  remove(edge: Edge): void;
}

export type Sample =
  | { readonly edge: Edge; readonly value: number }
  | {
      readonly edge: Edge;
      /** Observations up to and including each bound; the last element is the total. */
      readonly cumulative: readonly number[];
      readonly sum: number;
      /** The last traced call of each bucket. Undefined if there is none. */
      readonly exemplars?: Maybe<readonly Maybe<Exemplar>[]>;
    };
/** One metric as an exporter needs it. */
export interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  /** The base unit, with which the name ends. Undefined if the name has none. */
  readonly unit?: Maybe<string>;
  /** Upper bounds of a histogram, without infinity. */
  readonly bounds: readonly number[];
  readonly samples: readonly Sample[];
}

/** Counters, gauges and latency histograms with bounded cardinality. */
export interface Metrics {
  edge(edge: Edge): EdgeMeter;
  /** As `edge`, without allocating an object for a known edge. */
  meter(srcAgent: string, dstId: string, protocol: string): EdgeMeter;
  counter(name: string, help: string): CellFamily;
  gauge(name: string, help: string): CellFamily;
  families(): readonly Family[];
}

export interface MetricsOptions extends Partial<SeriesLimits> {
  /** Upper bounds of REQUEST_LATENCY in seconds, ascending. */
  readonly latencyBounds?: readonly number[];
  /** Milliseconds since the epoch, for exemplar timestamps. */
  readonly now?: () => number;
  /** `both`: also under names by the rules of OpenMetrics, with namespace and unit. Default: `upper`. */
  readonly names?: Maybe<MetricNames>;
}

/** From an in-process call to an agent that runs for minutes. */
export const LATENCY_BOUNDS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300,
];
const DEFAULT_LIMITS: SeriesLimits = { maxSeries: 1_000, maxLabelLength: 128 };
/** Prometheus data model: metric names. */
const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;

interface Registered {
  readonly help: string;
  readonly type: "counter" | "gauge";
  readonly table: SeriesTable<NumberCell>;
}

/** Creates an empty set of metrics. */
export function createMetrics(options: MetricsOptions = {}): Metrics {
  const limits = {
    maxSeries: options.maxSeries ?? DEFAULT_LIMITS.maxSeries,
    maxLabelLength: options.maxLabelLength ?? DEFAULT_LIMITS.maxLabelLength,
  };
  const bounds = options.latencyBounds ?? LATENCY_BOUNDS;
  const now = options.now ?? Date.now;
  const meters = new SeriesTable(limits, () => new Meter(bounds, now));
  const registered = new Map<string, Registered>();

  const register = (name: string, help: string, type: Registered["type"]): CellFamily => {
    if (!METRIC_NAME.test(name)) throw new TypeError(`"${name}" is not a metric name: letters, digits, _ and : only`);
    const known = registered.get(name);
    if (OWN_NAMES.has(name) || (known !== undefined && known.type !== type))
      throw new TypeError(`the metric ${name} is already registered with another type or help text`);
    const table = known?.table ?? new SeriesTable(limits, () => new NumberCell());
    if (known === undefined) registered.set(name, { help, type, table });
    return { edge: (edge) => table.at(edge), remove: (edge) => table.remove(edge) };
  };

  return {
    edge: (edge) => meters.at(edge),
    meter: (srcAgent, dstId, protocol) => meters.find(srcAgent, dstId, protocol),
    counter: (name, help) => register(name, help, "counter"),
    gauge: (name, help) => register(name, help, "gauge"),
    families() {
      const all = [...ownFamilies(meters, bounds), ...Array.from(registered, ([name, one]) => cellFamily(name, one))];
      return options.names === "both" ? withOpenNames(all) : all;
    },
  };
}

class NumberCell implements Cell {
  value = 0;
  add(amount: number): void {
    this.value += amount;
  }
  set(value: number): void {
    this.value = value;
  }
}

class Meter implements EdgeMeter {
  readonly #bounds: readonly number[];
  /** Observations per bucket; the last bucket is above every bound. */
  readonly counts: Float64Array;
  readonly exemplars: Exemplars;
  sum = 0;
  failures = 0;
  messageBytes = 0;
  payloadBytes = 0;
  overheadBytes = 0;

  constructor(bounds: readonly number[], now: () => number) {
    this.#bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
    this.exemplars = new Exemplars(now);
  }

  observe(latencySeconds: number, traceId?: Maybe<string>): void {
    const bounds = this.#bounds;
    let bucket = 0;
    while (bucket < bounds.length && latencySeconds > (bounds[bucket] as number)) bucket++; // bucket < length
    this.counts[bucket] = (this.counts[bucket] as number) + 1; // one element more than bounds
    this.sum += latencySeconds;
    if (traceId !== undefined) this.exemplars.put(bucket, latencySeconds, traceId);
  }
  fail(): void {
    this.failures++;
  }
  bytes(count: number): void {
    this.messageBytes += count;
  }
  payload(count: number): void {
    this.payloadBytes += count;
  }
  overhead(count: number): void {
    this.overheadBytes += count;
  }
}

/** The four counters beside the histogram, in exposition order. */
const OWN_COUNTERS = [
  ["REQUEST_FAILURES", "Calls that failed; a task that ends as failed is an answer", (meter: Meter) => meter.failures],
  ["MSG_BYTES", "Bytes of serialised protocol payload, requests and responses", (meter: Meter) => meter.messageBytes],
  ["MSG_BYTES_PAYLOAD", "Bytes of message content, requests and responses", (meter: Meter) => meter.payloadBytes],
  [
    "MSG_BYTES_RETRY_OVERHEAD",
    "Bytes of serialised payload around the content, and of what was sent again",
    (meter: Meter) => meter.overheadBytes,
  ],
] as const;
const LATENCY = "REQUEST_LATENCY";
const OWN_NAMES: ReadonlySet<string> = new Set([LATENCY, ...OWN_COUNTERS.map(([name]) => name)]);

function ownFamilies(meters: SeriesTable<Meter>, bounds: readonly number[]): readonly Family[] {
  const latency: Family = {
    name: LATENCY,
    help: "Seconds from the beginning of a call to the end of its answer",
    type: "histogram",
    bounds,
    samples: meters.all().map(({ edge, cell: { counts, sum, exemplars } }) => ({
      edge,
      cumulative: cumulative(counts),
      sum,
      exemplars: exemplars.all(),
    })),
  };
  const counters = OWN_COUNTERS.map(
    ([name, help, read]): Family => ({
      name,
      help,
      type: "counter",
      bounds: [],
      samples: meters.all().map(({ edge, cell }) => ({ edge, value: read(cell) })),
    }),
  );
  return [latency, ...counters];
}

function cellFamily(name: string, { help, type, table }: Registered): Family {
  return { name, help, type, bounds: [], samples: table.all().map(({ edge, cell }) => ({ edge, value: cell.value })) };
}

function cumulative(counts: Float64Array): readonly number[] {
  let total = 0;
  return Array.from(counts, (count) => {
    total += count;
    return total;
  });
}
