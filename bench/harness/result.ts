/** The result file of a benchmark run, read by every report. Bump `schema` when a field changes meaning. */
export interface BenchResult {
  readonly schema: 1;
  readonly bench: string;
  readonly mode: "quick" | "full" | "memory";
  readonly startedAt: string;
  readonly seconds: number;
  readonly machine: Machine;
  /** Rounds of the section that decides the verdict; each row has its own count. */
  readonly rounds: number;
  readonly rows: readonly Row[];
  /** Medians of per-round ratios: arm and floor of the same round. */
  readonly ratios: Readonly<Record<string, number>>;
  /** 10th and 90th percentile of the per-round ratios. */
  readonly spread: Readonly<Record<string, Range>>;
  /** 95 % confidence interval of the median ratio, distribution-free. Absent where the rounds are too few for one. */
  readonly interval: Readonly<Record<string, Range>>;
  readonly targets: Readonly<Record<string, TargetReport>>;
  readonly verdict: Verdict;
  /** Remarks: why inconclusive, what was skipped. */
  readonly notes: readonly string[];
}

export type Range = readonly [low: number, high: number];

/** `inconclusive`: the floor did not equal itself, so nothing was decided. `incomplete`: arms with a target did not run. */
export type Verdict = "met" | "missed" | "inconclusive" | "incomplete";

export interface TargetReport {
  readonly atLeast?: number;
  readonly atMost?: number;
  readonly met: boolean;
  /** Whether its own floor equalled itself and the interval is on one side of the target. Absent where no floor is its own. */
  readonly decided?: boolean;
}

/** One arm of one section; the series has one measurement per round. */
export interface Row {
  readonly section: string;
  readonly arm: string;
  readonly series: readonly Measurement[];
}

/** One arm in one round. Only the metrics that its section takes are present. */
export type Measurement = Readonly<Partial<Record<Metric, number>>>;

export type Metric =
  | "perSecond"
  | "p50Us"
  /** Median of how much longer a call took than a direct one beside it. */
  | "addedUs"
  | "p95Us"
  | "p99Us"
  /** Standard deviation of the latency over its mean. */
  | "variation"
  /** CPU time of the server process, per request. */
  | "cpuUs"
  | "requests"
  | "eventsPerSecond"
  | "firstEventUs"
  | "rssMb"
  /** What JavaScript holds after a garbage collection. */
  | "heapMb"
  | "codecUs"
  /** From asking for the rest of a stream to its last event. */
  | "resumeUs";

export interface Machine {
  readonly node: string;
  readonly cpu: string;
  readonly cores: number;
  /** Whether server and load had a core each. */
  readonly pinned: boolean;
  /** One-minute load average before the run: other work on the machine. */
  readonly loadBefore: number;
}
