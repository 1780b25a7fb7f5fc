import { z } from "zod";

/** What the events of this scenario give beyond latencies. Part of the result file. */

const count = z.number().int().nonnegative();
const maybe = z.number().nullable();
const name = z.string();

/** The judgement of one answer, by rule. */
export const JUDGED = z.strictObject({
  task_id: name,
  level: count,
  /** As it arrived at the caller; null if none did. */
  answer: z.string().nullable(),
  is_correct: z.boolean(),
  f1: z.number(),
  quality_score: count.min(1).max(5),
  /** All steps of the team's plan were completed. */
  is_complete: z.boolean(),
  /** From the question to the answer at the caller; the part of it in which no agent was at work. */
  workflowUs: maybe,
  communicationUs: maybe,
});
export type Judged = z.infer<typeof JUDGED>;

export const DOCQA_RUN = z.strictObject({
  run: name,
  arm: name,
  condition: name,
  questions: count,
  correct: count,
  complete: count,
  accuracy: maybe,
  completionRate: maybe,
  f1: maybe,
  quality: maybe,
  workflowUs: maybe,
  communicationUs: maybe,
  judged: z.array(JUDGED),
  /** What each agent did: time, CPU and tokens of its steps, messages and bytes that it sent to others, bytes of its edges. */
  agents: z.array(
    z.strictObject({
      agent: name,
      steps: count,
      failed: count,
      stepUs: maybe,
      cpuUs: z.number(),
      tokens: z.number(),
      messages: count,
      payloadBytes: count,
      wireBytes: count,
    }),
  ),
  /** Each step over all questions of the run that have it. */
  steps: z.array(
    z.strictObject({ level: count, step: count, taken: count, meanUs: maybe, cpuUs: maybe, tokens: maybe, bytes: maybe }),
  ),
  /** Steps that took more than three times the interquartile range above the third quartile of steps by the same tool. */
  stragglers: z.array(z.strictObject({ task_id: name, step: count, agent: name, us: z.number(), fenceUs: z.number() })),
  /** Messages between agents, and those of them that were disturbed on purpose. */
  messages: count,
  disturbed: count,
});
export type DocqaRun = z.infer<typeof DOCQA_RUN>;

const SHARE = z.strictObject({ hits: count, of: count, low: maybe, high: maybe });

export const DOCQA_ARM = z.strictObject({
  arm: name,
  condition: name,
  /** Correct answers of all questions, with the 95 % Wilson interval. */
  success: SHARE,
  completion: SHARE,
  quality: maybe,
  f1: maybe,
  byLevel: z.array(z.strictObject({ level: count, success: SHARE, quality: maybe })),
  workflowUs: maybe,
  communicationUs: maybe,
  /** The communication time of the plan's first question in up to five runs: the paper's single-task trials. */
  singleTaskUs: z.array(z.number()),
});
export type DocqaArm = z.infer<typeof DOCQA_ARM>;

/** The same questions in the same blocks: how often only one of two arms was right. */
export const DOCQA_PAIR = z.strictObject({
  condition: name,
  a: name,
  b: name,
  questions: count,
  onlyA: count,
  onlyB: count,
  /** Exact McNemar test; null if they never differed. */
  p: maybe,
});
export type DocqaPair = z.infer<typeof DOCQA_PAIR>;

export const DOCQA = z.strictObject({
  runs: z.array(DOCQA_RUN),
  arms: z.array(DOCQA_ARM),
  pairs: z.array(DOCQA_PAIR),
});
export type Docqa = z.infer<typeof DOCQA>;
