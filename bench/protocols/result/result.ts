import { z } from "zod";
import { DOCQA } from "../docqa/result/docqa-result.js";
import { PLAN, SCHEMA_VERSION } from "./plan.js";
import { STORM } from "./storm-schema.js";

/** The result file. Every number in it is computed from the events by `summarise`; reports are computed from it alone. */

const number = z.number();
const maybe = z.number().nullable();
const count = z.number().int().nonnegative();
const name = z.string();

/** The parts of an end-to-end latency, in the order in which a request passes them. They add up to it. */
export const SEGMENTS = [
  "clientQueue",
  "encode",
  "requestNetwork",
  "requestDecode",
  "serverQueue",
  "service",
  "replyEncode",
  "replyNetwork",
  "replyDecode",
] as const;
export type Segment = (typeof SEGMENTS)[number];

/** The numbers of one run. Null: not defined for it, for example the latency of a run without answers. */
export const METRICS = [
  "meanUs",
  "sdUs",
  "minUs",
  "p50Us",
  "p90Us",
  "p95Us",
  "p99Us",
  "p999Us",
  "maxUs",
  /** In-run variation: standard deviation over mean. */
  "cv",
  /** End to end, without the handler and without the queues. */
  "overheadMeanUs",
  "overheadP50Us",
  "overheadP95Us",
  /** Encoding and decoding on both sides: what an adapter costs, without the network, the queues and the handler. */
  "adapterMeanUs",
  "firstTokenP50Us",
  /** From the handler's first piece to the caller: what the protocol adds to the first token of a model. */
  "firstTokenAddedP50Us",
  "throughputPerS",
  "offeredPerS",
  /** From the first request of the window to the last answer. */
  "durationS",
  "successRate",
  /** Of the arrivals: how many were never sent, because too many were waiting. */
  "dropRate",
  /** Variance of the tasks per agent. */
  "balanceVariance",
  "wireBytesPerRequest",
  "cpuUsPerRequest",
  "rssBytes",
  /** From a fault to the first right answer through the last of its victims, mean over cycles. */
  "recoveryUs",
  /** The part of it from the open listener. */
  "usefulUs",
  /** The share of right answers after a recovery over that before the fault. */
  "retention",
] as const;
export type Metric = (typeof METRICS)[number];

/** Narrows the name of a metric. */
export function isMetric(name: string): name is Metric {
  return METRICS.some((metric) => metric === name);
}

/** The shares at which `distribution` has the latency. */
export const QUANTILES: readonly number[] = [
  0,
  ...Array.from({ length: 99 }, (_, index) => (index + 1) / 100),
  0.995,
  0.999,
  0.9999,
  1,
];

const metrics = z.strictObject(Object.fromEntries(METRICS.map((each) => [each, maybe])) as Record<Metric, typeof maybe>);
const segments = z.strictObject(Object.fromEntries(SEGMENTS.map((each) => [each, maybe])) as Record<Segment, typeof maybe>);

export const RUN_SUMMARY = z.strictObject({
  run: name,
  block: count,
  position: count,
  arm: name,
  condition: name,
  attempt: count,
  status: z.enum(["complete", "interrupted", "failed"]),
  reason: z.string().nullable(),
  /** Why its numbers must not be used; empty for a valid run. */
  invalid: z.array(z.string()),
  /** Measured requests; those of the warm-up are in no number. */
  requests: z.strictObject({
    sent: count,
    answered: count,
    failed: count,
    timeout: count,
    dropped: count,
    /** Attempts beyond the first. */
    retries: count,
    /** Attempts that could not reach the agent, or whose connection broke. */
    networkErrors: count,
    /** Requests that reached an agent, and how often one did so again. */
    received: count,
    duplicates: count,
  }),
  metrics,
  /** Mean microseconds per part. Null: not shown by this implementation, and contained in the next part that is. */
  segmentsUs: segments,
  /** Mean bytes per request, both directions: business payload, the protocol's bodies around it, everything else on the wire. */
  bytes: z.strictObject({ payload: maybe, envelope: maybe, transport: maybe }),
  /** The latency at each share of `QUANTILES`, in microseconds. */
  distribution: z.array(number),
  /** Counts of errors by their text. */
  errors: z.record(z.string(), count),
  /** What each agent answered: its tasks, their latency, and the time it was busy with them. */
  workers: z.array(z.strictObject({ agent: name, tasks: count, meanUs: maybe, sdUs: maybe, totalUs: number })),
  /** What the death of the coordinator did; null where it was not killed. */
  coordinator: z
    .strictObject({
      /** Entries that were answered when it was killed. */
      answeredBefore: count,
      /** From the kill until another one was connected. */
      downUs: number,
      /** From there to the first answer. */
      firstAnswerUs: maybe,
      /** Entries that were under way, and were sent again. */
      sentAgain: count,
    })
    .nullable(),
  /** What faults did, in a scenario whose answers are judged. */
  storm: STORM.optional(),
  /** What the proxy counted, per edge. */
  edges: z.array(z.strictObject({ edge: name, connections: count, sent: count, received: count })),
});
export type RunSummary = z.infer<typeof RUN_SUMMARY>;

/** A metric over the runs of an arm. The run is the unit. */
export const ESTIMATE = z.strictObject({
  /** One value per valid run, in the order of the blocks. */
  values: z.array(number),
  mean: maybe,
  median: maybe,
  /** 95 % interval of the mean over runs (BCa bootstrap); null with too few runs. */
  low: maybe,
  high: maybe,
  /** Run-to-run variation: standard deviation over mean. */
  cv: maybe,
});
export type Estimate = z.infer<typeof ESTIMATE>;

const reach = z.enum(["none", "hop", "end-to-end"]);

/** What protects the messages of an arm, and how its callers are known. An arm that protects more does more work. */
export const PROTECTION = z.strictObject({ signed: reach, sealed: reach, callers: z.enum(["anonymous", "did"]) });
export type Protection = z.infer<typeof PROTECTION>;

export const ARM_SUMMARY = z.strictObject({
  arm: name,
  condition: name,
  /** As the callers reported it; null if they did not. */
  protection: PROTECTION.nullable(),
  runs: count,
  validRuns: count,
  metrics: z.strictObject(Object.fromEntries(METRICS.map((each) => [each, ESTIMATE])) as Record<Metric, typeof ESTIMATE>),
  segmentsUs: segments,
  bytes: z.strictObject({ payload: maybe, envelope: maybe, transport: maybe }),
  /** Answered of all sent, over all valid runs, with its 95 % Wilson interval. */
  success: z.strictObject({ answered: count, sent: count, low: maybe, high: maybe }),
});
export type ArmSummary = z.infer<typeof ARM_SUMMARY>;

/** Two arms under one condition by one metric: `a` minus `b`. */
export const COMPARISON = z.strictObject({
  condition: name,
  metric: name,
  a: name,
  b: name,
  runs: count,
  /** Hodges–Lehmann shift with its 95 % interval. */
  shift: maybe,
  low: maybe,
  high: maybe,
  /** Welch's test, and the same after Holm's correction over all pairs of this condition. */
  p: maybe,
  adjustedP: maybe,
  cliffsDelta: maybe,
  cohensD: maybe,
  /** Two one-sided tests against the margin of the plan. */
  equivalenceP: maybe,
  /** The smallest difference that this many runs can detect (80 % power). */
  detectable: maybe,
});
export type Comparison = z.infer<typeof COMPARISON>;

/** A check that must come out as expected for the result to be believed. */
export const CHECK = z.strictObject({
  passed: z.boolean(),
  /** One sentence, with the numbers. */
  statement: z.string(),
});
export type Check = z.infer<typeof CHECK>;

/** An arm and its control, request by request: the difference of the same requests in the same block. */
export const CONTROL = CHECK.extend({
  kind: z.enum(["same", "dose"]),
  condition: name,
  arm: name,
  control: name,
  pairs: count,
  /** Median difference in microseconds, control minus arm, with a 95 % interval. */
  medianUs: maybe,
  lowUs: maybe,
  highUs: maybe,
  /** The same in each block: one run of the arm and one of the control. */
  blocks: z.array(z.strictObject({ block: count, pairs: count, medianUs: maybe })),
});
export type Control = z.infer<typeof CONTROL>;

export const RESULT = z.strictObject({
  schema: z.literal(SCHEMA_VERSION),
  kind: z.literal("koine-protocol-bench"),
  /** `partial`: interrupted or with failed runs; what is there was measured. `invalid`: a check failed. */
  status: z.enum(["complete", "partial", "invalid"]),
  /** Everything a reader must know before the numbers: quick, partial, shared processes, failed checks. */
  marks: z.array(z.string()),
  plan: PLAN,
  checks: z.strictObject({
    /** Bytes on every edge, and sent = received = answered where no fault was injected. */
    witness: CHECK,
    /** All arms had the same configuration outside the protocol. */
    fairness: CHECK,
    /** The same business payloads and answers in all arms. */
    replay: CHECK,
  }),
  controls: z.array(CONTROL),
  runs: z.array(RUN_SUMMARY),
  arms: z.array(ARM_SUMMARY),
  comparisons: z.array(COMPARISON),
  /** What teams achieved, in a scenario with questions. */
  docqa: DOCQA.optional(),
});
export type BenchResult = z.infer<typeof RESULT>;

/** JSON Schema of the result file. */
export function resultJsonSchema(): object {
  return { title: "Koine ProtocolBench result", ...z.toJSONSchema(RESULT) };
}
