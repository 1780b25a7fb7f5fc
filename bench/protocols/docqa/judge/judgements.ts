import { z } from "zod";
import { wilson } from "../../../harness/proportions.js";
import { JUDGED_BY } from "../../models/votes.js";
import { mean } from "../../result/means.js";
import { agreementOf, majorityOf } from "../../statistics/agreement.js";

const name = z.string().max(200);
const count = z.number().int().nonnegative();
const maybe = z.number().nullable();

/** Shares and kappas; see `agreementOf`. */
export const AGREEMENT = z.strictObject({ repeats: maybe, repeatsKappa: maybe, rule: maybe, ruleKappa: maybe });

/** What the model is asked to reply. */
export const VERDICT = z.object({
  is_correct: z.boolean(),
  quality_score: z.number().int().min(1).max(5),
  reasoning: z.string().max(4_000),
});
export type ModelVerdict = z.infer<typeof VERDICT>;

const JUDGED_ANSWER = z.strictObject({
  run: name,
  arm: name,
  condition: name,
  task_id: name,
  seq: count,
  /** By rule, as in the result. */
  rule: z.strictObject({ is_correct: z.boolean(), quality_score: count }),
  /** What the model judged by: the whole log, or a summary where the log is too long for it. */
  evidence: z.enum(["log", "summary"]),
  /** One for each time it was asked; null for a reply that is no verdict. */
  votes: z.array(VERDICT.strict().nullable()),
});
export type JudgedAnswer = z.infer<typeof JUDGED_ANSWER>;

const SUMMARY = z.strictObject({
  arms: z.array(
    z.strictObject({
      arm: name,
      condition: name,
      answers: count,
      /** By the majority of the votes; a tie is not right. */
      correct: count,
      low: maybe,
      high: maybe,
      /** Mean of the votes; of the rule beside it. */
      quality: maybe,
      ruleCorrect: count,
      ruleQuality: maybe,
    }),
  ),
  /** Replies that are no verdict. */
  unreadable: count,
  /** Answers with unreadable votes are left out. */
  agreement: AGREEMENT,
});
export type JudgementSummary = z.infer<typeof SUMMARY>;

/** The judgements of a model about a result of docqa. Every number in `summary` follows from `judged`. */
export const JUDGEMENTS = z.strictObject({
  ...JUDGED_BY,
  judged: z.array(JUDGED_ANSWER),
  summary: SUMMARY,
});
export type Judgements = z.infer<typeof JUDGEMENTS>;

export function judgementsOf(made: Omit<Judgements, "version" | "summary">): Judgements {
  return { version: JUDGED_BY.version.value, ...made, summary: summariseVotes(made.judged) };
}

/** Pure: the numbers that the votes give. */
export function summariseVotes(judged: readonly JudgedAnswer[]): JudgementSummary {
  const groups = new Map<string, JudgedAnswer[]>();
  for (const each of judged) {
    const key = JSON.stringify([each.arm, each.condition]);
    const own = groups.get(key);
    if (own === undefined) groups.set(key, [each]);
    else own.push(each);
  }
  const whole = judged.flatMap(({ rule, votes }) => {
    const said = votes.flatMap((vote) => (vote === null ? [] : [String(vote.is_correct)]));
    return said.length === votes.length && said.length > 0 ? [{ rule: String(rule.is_correct), said }] : [];
  });
  return {
    arms: [...groups.values()].map((own) => summariseArm(own)),
    unreadable: judged.flatMap(({ votes }) => votes).filter((vote) => vote === null).length,
    agreement: agreementOf(whole, "false"),
  };
}

function summariseArm(own: readonly JudgedAnswer[]): JudgementSummary["arms"][number] {
  const [first] = own;
  const votes = own.flatMap((each) => each.votes.flatMap((vote) => vote?.quality_score ?? []));
  const correct = own.filter(
    ({ votes: each }) => majorityOf(each.map((vote) => String(vote?.is_correct ?? false))) === "true",
  ).length;
  const [low, high] = wilson(correct, own.length) ?? [null, null];
  return {
    arm: first?.arm ?? "",
    condition: first?.condition ?? "",
    answers: own.length,
    correct,
    low,
    high,
    quality: mean(votes),
    ruleCorrect: own.filter(({ rule }) => rule.is_correct).length,
    ruleQuality: mean(own.map(({ rule }) => rule.quality_score)),
  };
}
