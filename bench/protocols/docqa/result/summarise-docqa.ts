import { mcnemar, wilson } from "../../../harness/proportions.js";
import { mean } from "../../result/means.js";
import type { Plan } from "../../result/plan.js";
import type { RunEvents } from "../../result/run-events.js";
import type { Docqa, DocqaArm, DocqaPair, DocqaRun, Judged } from "./docqa-result.js";
import { judgeRun } from "./judge-run.js";

/** Single-task trials of the paper. */
const TRIALS = 5;

/** What the teams achieved, from the events of complete runs. Undefined for a scenario without questions. Pure. */
export function summariseDocqa(plan: Plan, events: readonly RunEvents[]): Docqa | undefined {
  const { questions } = plan;
  if (questions === undefined || questions.length === 0) return undefined;
  const runs = events.filter(({ ended }) => ended?.status === "complete").map((run) => judgeRun(run, questions));
  const blocks = new Map(plan.runs.map(({ run, block }) => [run, block]));
  const subjects = plan.arms.filter(({ control }) => control === undefined);
  return {
    runs,
    arms: plan.conditions.flatMap(({ id }) => plan.arms.map((arm) => armOf(arm.id, id, runs))),
    pairs: plan.conditions.flatMap(({ id }) =>
      subjects.flatMap((a, index) =>
        subjects.slice(index + 1).map((b) => pairOf({ condition: id, a: a.id, b: b.id }, runs, blocks)),
      ),
    ),
  };
}

function armOf(arm: string, condition: string, runs: readonly DocqaRun[]): DocqaArm {
  const own = runs.filter((run) => run.arm === arm && run.condition === condition);
  const judged = own.flatMap((run) => run.judged);
  const average = (values: readonly (number | null)[]) => mean(values.filter((value) => value !== null));
  const [first] = judged;
  return {
    arm,
    condition,
    success: shareOf(judged, ({ is_correct }) => is_correct),
    completion: shareOf(judged, ({ is_complete }) => is_complete),
    quality: average(own.map(({ quality }) => quality)),
    f1: average(own.map(({ f1 }) => f1)),
    byLevel: [...new Set(judged.map(({ level }) => level))].sort().map((level) => {
      const same = judged.filter((one) => one.level === level);
      return {
        level,
        success: shareOf(same, ({ is_correct }) => is_correct),
        quality: average(same.map(({ quality_score }) => quality_score)),
      };
    }),
    workflowUs: average(own.map(({ workflowUs }) => workflowUs)),
    communicationUs: average(own.map(({ communicationUs }) => communicationUs)),
    singleTaskUs: own
      .flatMap((run) => run.judged.find(({ task_id }) => task_id === first?.task_id)?.communicationUs ?? [])
      .slice(0, TRIALS),
  };
}

function shareOf(judged: readonly Judged[], test: (one: Judged) => boolean): DocqaArm["success"] {
  const hits = judged.filter(test).length;
  const [low, high] = wilson(hits, judged.length) ?? [null, null];
  return { hits, of: judged.length, low, high };
}

function pairOf(
  pair: Pick<DocqaPair, "condition" | "a" | "b">,
  runs: readonly DocqaRun[],
  blocks: ReadonlyMap<string, number>,
): DocqaPair {
  const rightOf = (arm: string) =>
    new Map(
      runs
        .filter((run) => run.arm === arm && run.condition === pair.condition)
        .flatMap((run) => run.judged.map((one) => [`${blocks.get(run.run)} ${one.task_id}`, one.is_correct] as const)),
    );
  const [a, b] = [rightOf(pair.a), rightOf(pair.b)];
  const both = [...a.keys()].filter((key) => b.has(key));
  const onlyA = both.filter((key) => a.get(key) === true && b.get(key) === false).length;
  const onlyB = both.filter((key) => a.get(key) === false && b.get(key) === true).length;
  return { ...pair, questions: both.length, onlyA, onlyB, p: onlyA + onlyB === 0 ? null : mcnemar(onlyA, onlyB) };
}
