import { DECODING } from "../../models/settings.js";
import { askVotes, type Voter } from "../../models/votes.js";
import { fillPrompt, promptInput } from "../../prompts/prompts.js";
import type { BenchEvent } from "../../result/event.js";
import { networkLog } from "../memory/network-log.js";
import { summariseByRule } from "../memory/summary.js";
import { judgedIn } from "../result/judge-run.js";
import { type JudgedAnswer, type Judgements, judgementsOf, VERDICT } from "./judgements.js";

const JUDGE_PROMPT = "docqa-judge.v1";
/** A longer log is not given to the model: it judges by the summary then, and the judgement says so. */
const LOG_CHARS = 48_000;
const NOTHING = "The team left no log.";

export interface JudgeByModel extends Voter {
  /** Of the model. */
  readonly name: string;
  onProgress(done: number, of: number): void;
}

/** Has a model judge every measured answer. Interrupted, it returns what was judged so far. Throws AgentError of the model. */
export async function judgeByModel(events: readonly BenchEvent[], options: JudgeByModel): Promise<Judgements> {
  const { name, times, signal, onProgress } = options;
  const answers = judgedIn(events);
  const judged: JudgedAnswer[] = [];
  for (const { planned, seq, question, memory, judged: rule } of answers) {
    onProgress(judged.length, answers.length);
    const log = memory === undefined ? NOTHING : networkLog(memory);
    const evidence = log.length <= LOG_CHARS || memory === undefined ? "log" : "summary";
    const asked = fillPrompt(JUDGE_PROMPT, {
      question: question.text,
      reference: question.answer,
      answer: rule.answer ?? "none",
      evidence_name:
        evidence === "log" ? "The full log of messages, steps and tool calls, in their order" : "A summary of the log",
      evidence: evidence === "summary" && memory !== undefined ? summariseByRule(question, memory) : log,
    });
    const votes = await askVotes(asked, VERDICT, options);
    if (votes === undefined) break;
    judged.push({
      run: planned.run,
      arm: planned.arm,
      condition: planned.condition,
      task_id: question.id,
      seq,
      rule: { is_correct: rule.is_correct, quality_score: rule.quality_score },
      evidence,
      votes,
    });
  }
  const { sha256 } = promptInput(JUDGE_PROMPT);
  const complete = judged.length === answers.length && !signal.aborted;
  return judgementsOf({
    model: name,
    prompt: { name: JUDGE_PROMPT, sha256 },
    decoding: { ...DECODING },
    times,
    complete,
    judged,
  });
}
