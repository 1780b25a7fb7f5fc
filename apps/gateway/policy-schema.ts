import { z } from "zod";
import { COUNT, MS, SHARE, switched } from "./config-values.js";

/** Load balancing policies. */
export const SELECTIONS = [
  "first-match",
  "weighted",
  "latency-average",
  "latency-percentile",
  "hash-session",
  "hash-trace",
] as const;

const BY = z.enum(["session", "trace"]);

/** Policies for calls to an agent. Absent policies are off. */
export const POLICIES = z.strictObject({
  select: z.enum(SELECTIONS).optional().describe("How to choose among several upstreams. Default: first-match."),
  deadlineMs: MS.optional().describe("Deadline of the whole answer, including retries and streams."),
  cache: switched({ entries: COUNT.optional(), keepMs: MS.optional(), bytesPerEntry: COUNT.optional() })
    .optional()
    .describe("Answer repeated requests with the same idempotency key from a cache."),
  order: z
    .union([BY, z.strictObject({ by: BY, waiting: COUNT.optional(), keys: COUNT.optional(), atOnce: COUNT.optional() })])
    .optional()
    .describe("Send messages of one session or trace in order of arrival."),
  number: BY.optional().describe("Number messages for a receiver that reorders them."),
  reorder: switched({ buffer: COUNT.optional(), waitMs: MS.optional() })
    .optional()
    .describe("Reorder numbered messages from callers."),
  bulkhead: switched({
    concurrent: COUNT.optional(),
    waiting: COUNT.optional(),
    waitMs: MS.optional(),
    agingMs: MS.optional(),
    reserved: COUNT.optional(),
  })
    .optional()
    .describe("Limit concurrent and queued calls; the queue is ordered by priority."),
  hedge: z
    .strictObject({
      afterMs: z.union([MS, z.strictObject({ percentile: SHARE, untilKnownMs: MS, atLeastMs: MS.optional() })], {
        error: "must be milliseconds, or { percentile, untilKnownMs }",
      }),
      share: SHARE.optional(),
      maxInFlight: COUNT.optional(),
    })
    .optional()
    .describe("Start a second attempt when the first is slow, if repeating it is safe."),
  retry: switched({
    tries: COUNT.optional(),
    firstWaitMs: MS.optional(),
    longestWaitMs: MS.optional(),
    keys: z.boolean().optional().describe("Add an idempotency key to messages without one, if the agent supports keys."),
  })
    .optional()
    .describe("Retry failed calls, if repeating them is safe."),
  breaker: switched({
    windowMs: MS.optional(),
    failureShare: SHARE.optional(),
    minimumCalls: COUNT.optional(),
    openMs: MS.optional(),
    probeMs: MS.optional(),
    slow: z.strictObject({ ms: MS, share: SHARE }).optional(),
  })
    .optional()
    .describe("Circuit breaker: stop calling a failing upstream for a while."),
});

export type PolicyDocument = z.infer<typeof POLICIES>;
