import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DECODING } from "../../models/settings.js";
import { askVotes, type Voter } from "../../models/votes.js";
import { fillPrompt, promptInput } from "../../prompts/prompts.js";
import { outcomeOf } from "../result/classify.js";
import type { Attempt } from "../result/event.js";
import { type JudgedAttempt, OPINION, type SafetyJudgements, safetyJudgements } from "./judgements.js";

const EVALUATOR_PROMPT = "safety-evaluator.v1";
/** Of the evidence of one attempt. */
const EVIDENCE_CHARS = 24_000;

export interface JudgeAttempts extends Voter {
  /** Of the model. */
  readonly name: string;
  onProgress(done: number, of: number): void;
}

/** Has a model say what came of each attempt, by its evidence. Interrupted, it returns what was judged so far. */
export async function judgeAttempts(
  folder: string,
  attempts: readonly Attempt[],
  options: JudgeAttempts,
): Promise<SafetyJudgements> {
  const judged: JudgedAttempt[] = [];
  for (const attempt of attempts) {
    options.onProgress(judged.length, attempts.length);
    const votes = await askVotes(promptFor(folder, attempt), OPINION, options);
    if (votes === undefined) break;
    const { target, probe, variant, round } = attempt;
    judged.push({ target, probe, variant, round, rule: outcomeOf(attempt), votes });
  }
  const { name, times } = options;
  const { sha256 } = promptInput(EVALUATOR_PROMPT);
  const complete = judged.length === attempts.length;
  const prompt = { name: EVALUATOR_PROMPT, sha256 };
  return safetyJudgements({ model: name, prompt, decoding: { ...DECODING }, times, complete, judged });
}

function promptFor(folder: string, { probe, variant, refusals, before, after, controls, evidence }: Attempt): string {
  const text = readFileSync(join(folder, evidence), "utf8");
  const rest = text.length - EVIDENCE_CHARS;
  return fillPrompt(EVALUATOR_PROMPT, {
    probe,
    variant,
    refusals: refusals.join(", "),
    legitimate: before && after ? "yes" : "no",
    controls: controls.map(({ name, passed }) => `${name}: ${passed ? "yes" : "no"}`).join("; ") || "none",
    evidence: rest > 0 ? `${text.slice(0, EVIDENCE_CHARS)}\n(${rest} more characters)` : text,
  });
}
