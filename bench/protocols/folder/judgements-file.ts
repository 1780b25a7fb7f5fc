import { existsSync } from "node:fs";
import { join } from "node:path";
import { JUDGEMENTS, type Judgements, summariseVotes } from "../docqa/judge/judgements.js";
import { judgedIn } from "../docqa/result/judge-run.js";
import type { BenchEvent } from "../result/index.js";
import { FILES, readFile, writeJson } from "./folder.js";

/** Keeps what a model judged beside the result. Judgements of an earlier call are replaced. */
export function writeJudgements(folder: string, judgements: Judgements): void {
  writeJson(folder, FILES.judgements, judgements);
}

/** What is stated in the file, and what votes and events give. Undefined: no model has judged here. Throws FolderError. */
export function judgementsIn(folder: string, events: readonly BenchEvent[]) {
  if (!existsSync(join(folder, FILES.judgements))) return undefined;
  const { judged, summary } = readFile(folder, FILES.judgements, JUDGEMENTS);
  const rules = new Map(judgedIn(events).map(({ planned, seq, judged: rule }) => [`${planned.run} ${seq}`, rule]));
  const ruled = judged.map(({ run, seq }) => {
    const rule = rules.get(`${run} ${seq}`);
    return rule && { is_correct: rule.is_correct, quality_score: rule.quality_score };
  });
  return {
    stated: { summary, rules: judged.map(({ rule }) => rule) },
    computed: { summary: summariseVotes(judged), rules: ruled },
  };
}
