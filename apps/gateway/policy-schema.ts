import { z } from "zod";
import { COUNT, MS, SHARE, switched } from "./config-values.js";

/** How one of several upstreams is chosen. */
export const SELECTIONS = [
  "first-match",
  "weighted",
  "latency-average",
  "latency-percentile",
  "hash-session",
  "hash-trace",
] as const;

const BY = z.enum(["session", "trace"]);

/** What happens to a call on its way to an agent. Whatever is absent is off. */
export const POLICIES = z.strictObject({
  select: z.enum(SELECTIONS).optional().describe("Among several upstreams. Default: first-match."),
  deadlineMs: MS.optional().describe("For the whole answer, with all tries and streams."),
  cache: switched({ entries: COUNT.optional(), keepMs: MS.optional(), bytesPerEntry: COUNT.optional() })
    .optional()
    .describe("The same request with the same idempotency key is made once."),
  order: z
    .union([BY, z.strictObject({ by: BY, waiting: COUNT.optional(), keys: COUNT.optional(), atOnce: COUNT.optional() })])
    .optional()
    .describe("Messages of one session or trace go out in the order in which they came."),
  number: BY.optional().describe("Messages are numbered for a receiver that puts them back in order."),
  reorder: switched({ buffer: COUNT.optional(), waitMs: MS.optional() })
    .optional()
    .describe("Numbered messages of callers are put back in order."),
  bulkhead: switched({
    concurrent: COUNT.optional(),
    waiting: COUNT.optional(),
    waitMs: MS.optional(),
    agingMs: MS.optional(),
    reserved: COUNT.optional(),
  })
    .optional()
    .describe("At most so many calls at a time, and so many that wait, by priority."),
  hedge: z
    .strictObject({
      afterMs: z.union([MS, z.strictObject({ percentile: SHARE, untilKnownMs: MS, atLeastMs: MS.optional() })], {
        error: "must be milliseconds, or { percentile, untilKnownMs }",
      }),
      share: SHARE.optional(),
      maxInFlight: COUNT.optional(),
    })
    .optional()
    .describe("A second attempt beside one that is late, where that can do no harm."),
  retry: switched({
    tries: COUNT.optional(),
    firstWaitMs: MS.optional(),
    longestWaitMs: MS.optional(),
    keys: z.boolean().optional().describe("Messages without an idempotency key get one, where the agent honours keys."),
  })
    .optional()
    .describe("Failed calls are tried again, where that can do no harm."),
  breaker: switched({
    windowMs: MS.optional(),
    failureShare: SHARE.optional(),
    minimumCalls: COUNT.optional(),
    openMs: MS.optional(),
    probeMs: MS.optional(),
    slow: z.strictObject({ ms: MS, share: SHARE }).optional(),
  })
    .optional()
    .describe("An upstream that fails is left alone for a while."),
});

export type PolicyDocument = z.infer<typeof POLICIES>;
