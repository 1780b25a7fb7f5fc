import { z } from "zod";

/** What a storm of faults did to a run. Times are microseconds. Null: it did not happen, or cannot be known. */

const maybe = z.number().nullable();
const count = z.number().int().nonnegative();
const name = z.string();

/** Requests that ended within a window of time. */
export const WINDOW = z.strictObject({
  seconds: z.number().nonnegative(),
  /** Shorter than it should be: the run began later, the next fault came earlier, or the run ended. */
  truncated: z.boolean(),
  ended: count,
  /** Ended with the right answer. */
  right: count,
  meanUs: maybe,
  medianUs: maybe,
});
export type Window = z.infer<typeof WINDOW>;

/** One agent or link that a fault hit. `recoveryUs` is the sum of the parts after it, which follow each other. */
const VICTIM = z.strictObject({
  victim: name,
  /** From the fault to the first right answer that went through it afterwards. */
  recoveryUs: maybe,
  /** From the fault to the moment when it was taken back: the delay before a restart, and the time to verify the death. */
  downUs: maybe,
  /** Until its listener is open again. */
  startUs: maybe,
  /** Until the first peer has accepted it again: discovery, authentication, state. */
  rejoinUs: maybe,
  /** Until the first right answer through it. */
  workUs: maybe,
  /** From the open listener to that answer: both of the last. */
  usefulUs: maybe,
  /** From the fault until each peer that noticed skipped it, and by what it noticed. */
  detections: z.array(z.strictObject({ by: name, us: z.number(), seenBy: name })),
  /** The state it got back; null if it was not started again. */
  restored: z.strictObject({ source: name, fragments: count, bytes: count, us: z.number() }).nullable(),
  /** Bytes of its own connections from the restart until it was accepted again. */
  reconnect: z.strictObject({ connections: count, sent: count, received: count }).nullable(),
});
export type Victim = z.infer<typeof VICTIM>;

const WINDOWS = z.strictObject({ pre: WINDOW, post: WINDOW });

export const CYCLE = z.strictObject({
  /** Seconds from the begin of the measured window to the first fault of the cycle. */
  atS: z.number(),
  kind: name,
  victims: z.array(VICTIM),
  /** Of the victim that took longest; null if one did not recover. */
  recoveryUs: maybe,
  detectUs: maybe,
  usefulUs: maybe,
  /**
   * The mean time between questions that would have shown a recovery: probes of the victims, or right answers through them where they were
   * not probed. Recoveries cannot be told apart below it.
   */
  resolutionUs: maybe,
  /** Between the first fault and the last recovery. */
  during: WINDOW,
  /** 60 s before the fault and 60 s after the last recovery. */
  paper: WINDOWS,
  /** The two minutes before the fault, and until the next one. */
  appendix: WINDOWS,
  /** Share of right answers after over before. Null: there was none before. */
  retention: maybe,
  /** Right answers after over right answers before, whatever the lengths of the windows. */
  countRetention: maybe,
  appendixRetention: maybe,
  /** Right answers that the rate before the fault promised and that did not come until the recovery. */
  missed: maybe,
});
export type Cycle = z.infer<typeof CYCLE>;

export const STORM = z.strictObject({
  cycles: z.array(CYCLE),
  /** Questions without any answer. */
  lost: count,
  /** Questions whose answer the coordinator counted more than once. */
  doubled: count,
  /** Answers that arrived at the coordinator again, by their key, and were not counted. */
  discarded: count,
  /** Arrivals of questions at agents after the first: another agent was asked, because one was gone before its answer arrived. */
  repeated: count,
  /** Of these, how many were worked through to an answer once more. The others met an agent that knew the key, or did not end. */
  executedAgain: count.optional(),
  /** The share of right answers that needs no message: the agent that is asked holds the text. */
  localShare: maybe,
  /** Right answers of all that ended. */
  rightShare: maybe,
  /** Second of the measured window, and right and other ends in it. */
  timeline: z.array(z.strictObject({ second: count, right: count, other: count })),
});
export type Storm = z.infer<typeof STORM>;
