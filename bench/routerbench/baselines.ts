import type { Case, LabelledModule } from "./case.js";
import { NaiveBayes, wordsOf } from "./naive-bayes.js";
import { groupBy, type Outcome } from "./outcome.js";
import type { Module } from "./router.js";

/** The baselines: majority class, and naive Bayes over words. */
export const BASELINES = ["majority", "naive Bayes"] as const;
export type Baseline = (typeof BASELINES)[number];

export interface BaselineOptions {
  /** The order that breaks ties. */
  readonly protocols: readonly string[];
  /** Trained on these. Without it: on all other scenarios of the same file. */
  readonly train?: readonly Case[] | undefined;
}

/** The outcomes of one baseline, in the order of the cases. */
export function runBaseline(kind: Baseline, cases: readonly Case[], options: BaselineOptions): readonly Outcome[] {
  const { protocols, train } = options;
  const choose = (bayes: NaiveBayes, words: readonly string[]): string | null =>
    (kind === "majority" ? bayes.majority(protocols) : bayes.choose(words, protocols)) ?? null;
  if (train !== undefined) {
    const bayes = trainedOn(train);
    return cases.flatMap((each) => outcomesOf(each, (words) => choose(bayes, words)));
  }
  const perFile = new Map(
    Array.from(
      groupBy(cases, ({ file }) => file),
      ([file, members]) => [file, trainedOn(members)],
    ),
  );
  return cases.flatMap((each) => {
    const bayes = perFile.get(each.file) ?? new NaiveBayes();
    const learnt = each.modules.map((module) => [module.label, moduleWords(module)] as const);
    for (const [label, words] of learnt) bayes.forget(label, words);
    const outcomes = outcomesOf(each, (words) => choose(bayes, words));
    for (const [label, words] of learnt) bayes.learn(label, words);
    return outcomes;
  });
}

function trainedOn(cases: readonly Case[]): NaiveBayes {
  const bayes = new NaiveBayes();
  for (const { modules } of cases) for (const module of modules) bayes.learn(module.label, moduleWords(module));
  return bayes;
}

function outcomesOf({ file, scenario, modules }: Case, choose: (words: readonly string[]) => string | null): readonly Outcome[] {
  return modules.map((module: LabelledModule) => ({
    file,
    scenario_id: scenario.id,
    level: scenario.level ?? null,
    module_id: module.id,
    label: module.label,
    chosen: choose(moduleWords(module)),
    margin: null,
  }));
}

/** The module's own text; the scenario's description is shared by modules with different labels. */
function moduleWords({ passages }: Module): readonly string[] {
  return passages.flatMap(({ text }) => wordsOf(text));
}
