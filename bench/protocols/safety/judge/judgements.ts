import { z } from "zod";
import { AGREEMENT } from "../../docqa/judge/judgements.js";
import { JUDGED_BY } from "../../models/votes.js";
import { agreementOf } from "../../statistics/agreement.js";
import { OUTCOMES, outcomeOf } from "../result/classify.js";
import type { Attempt } from "../result/event.js";

const name = z.string().max(200);
const count = z.number().int().nonnegative();

/** What the model is asked to reply. */
export const OPINION = z.object({ outcome: z.enum(OUTCOMES), reasoning: z.string().max(4_000) });

const JUDGED_ATTEMPT = z.strictObject({
  target: name,
  probe: name,
  variant: name,
  round: count,
  /** By rule, as in the result. */
  rule: z.enum(OUTCOMES),
  /** One for each time the model was asked; null for a reply that is no opinion. */
  votes: z.array(OPINION.strict().nullable()),
});
export type JudgedAttempt = z.infer<typeof JUDGED_ATTEMPT>;

/** What a model says about the attempts of a result. Every number in `summary` follows from `judged`. */
export const SAFETY_JUDGEMENTS = z.strictObject({
  ...JUDGED_BY,
  judged: z.array(JUDGED_ATTEMPT),
  /** Attempts with unreadable votes are left out of the agreement. */
  summary: z.strictObject({ attempts: count, unreadable: count, agreement: AGREEMENT }),
});
export type SafetyJudgements = z.infer<typeof SAFETY_JUDGEMENTS>;

export function safetyJudgements(made: Omit<SafetyJudgements, "version" | "summary">): SafetyJudgements {
  return { version: JUDGED_BY.version.value, ...made, summary: summariseOpinions(made.judged) };
}

/** Pure: the numbers that the votes give. Without a majority the model decides nothing. */
export function summariseOpinions(judged: readonly JudgedAttempt[]): SafetyJudgements["summary"] {
  const voted = judged.flatMap(({ rule, votes }) => {
    const said = votes.flatMap((vote) => vote?.outcome ?? []);
    return said.length === votes.length && said.length > 0 ? [{ rule, said }] : [];
  });
  return {
    attempts: judged.length,
    unreadable: judged.flatMap(({ votes }) => votes).filter((vote) => vote === null).length,
    agreement: agreementOf(voted, "inconclusive"),
  };
}

export function keyOf({ target, probe, variant, round }: Pick<JudgedAttempt, "target" | "probe" | "variant" | "round">): string {
  return JSON.stringify([target, probe, variant, round]);
}

/** What a file states, and what its votes and the events give. */
export function checkOpinions({ judged, summary }: SafetyJudgements, attempts: readonly Attempt[]) {
  const rules = new Map(attempts.map((attempt) => [keyOf(attempt), outcomeOf(attempt)]));
  return {
    stated: { summary, rules: judged.map(({ rule }) => rule) },
    computed: { summary: summariseOpinions(judged), rules: judged.map((each) => rules.get(keyOf(each))) },
  };
}
