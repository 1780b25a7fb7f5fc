import { escaped, pageHtml, tableHtml } from "../../harness/html.js";
import { short, type Table } from "../../harness/table.js";
import type { ArmChange, ResultComparison } from "../folder/compare.js";
import type { BenchResult, Comparison } from "../result/index.js";
import { conclusionOf } from "../statistics/index.js";
import { forestChart } from "./charts.js";
import { cell, tableMarkdown } from "./markdown.js";
import { STYLE } from "./style.js";
import { controlTable } from "./tables.js";
import { type ConditionView, conditionViews } from "./view.js";
import { chanceOf, figure, heading, range } from "./words.js";

/** Two results of one scenario and what changed between them. */
export interface Compared {
  readonly names: readonly [before: string, after: string];
  readonly results: readonly [before: BenchResult, after: BenchResult];
  readonly comparison: ResultComparison;
}

const SENTENCE =
  "Each arm that both results have: the second minus the first. Only results of one machine under the same load can be compared, which the " +
  "benchmark cannot know: look at the controls of both first.";

export function comparisonHtml(compared: Compared): string {
  const { names, comparison, results } = compared;
  const title = titleOf(compared);
  const notes = notesOf(compared);
  const list = notes.map((note) => `<li>${escaped(note)}</li>`).join("");
  const marks = list === "" ? "" : `<div class="mark" role="alert"><strong>Before you compare</strong><ul>${list}</ul></div>`;
  const sections = conditionViews(results[1]).map((view) => sectionHtml(view, comparison.changes, results[1].plan.marginUs));
  const controls = results.map(
    (result, index) =>
      `<h3>${escaped(names[index] ?? "")}</h3>\n<div class="scroll" tabindex="0">${tableHtml(controlTable(result))}</div>`,
  );
  const body = `<header><h1>${escaped(title)}</h1><p class="lead">${escaped(SENTENCE)}</p>${marks}</header>
<main id="content">${sections.join("\n")}
<section aria-labelledby="controls"><h2 id="controls">Can they be believed?</h2>${controls.join("\n")}</section></main>`;
  return pageHtml({ title, style: STYLE, body });
}

export function comparisonMarkdown(compared: Compared): string {
  const { names, comparison, results } = compared;
  const notes = notesOf(compared);
  const sections = conditionViews(results[1]).flatMap((view) => {
    const table = changeTable(view, comparison.changes);
    return table.rows.length === 0 ? [] : [`## ${cell(view.condition.id)}`, tableMarkdown(table)];
  });
  const parts = [
    `# ${cell(titleOf(compared))}`,
    SENTENCE,
    ...(notes.length === 0 ? [] : [notes.map((note) => `> - ${cell(note)}`).join("\n")]),
    ...sections,
    "## Can they be believed?",
    ...results.flatMap((result, index) => [`### ${cell(names[index] ?? "")}`, tableMarkdown(controlTable(result))]),
  ];
  return `${parts.join("\n\n")}\n`;
}

function titleOf({ names, results }: Compared): string {
  return `${results[1].plan.scenario}: ${names[0]} and ${names[1]}`;
}

function notesOf({ names, results, comparison }: Compared): readonly string[] {
  const states = results.flatMap(({ status }, index) => (status === "complete" ? [] : [`${names[index]} is ${status}`]));
  return [...states, ...comparison.notes];
}

function sectionHtml(view: ConditionView, changes: readonly ArmChange[], marginUs: number): string {
  const table = changeTable(view, changes);
  if (table.rows.length === 0) return "";
  const pairs = pairsOf(view, changes).filter(({ metric, shift }) => metric === view.primary && shift !== null);
  const chart = pairs.length === 0 ? "" : `<div class="picture" tabindex="0">${forestChart(view, pairs, marginUs)}</div>`;
  return `<section><h2>${escaped(view.condition.id)}</h2>\n${chart}\n<div class="scroll" tabindex="0">${tableHtml(table)}</div></section>`;
}

/** The changes under one condition as comparisons, for the chart and the conclusion. */
function pairsOf(
  { condition }: ConditionView,
  changes: readonly ArmChange[],
): readonly (Comparison & { readonly change: ArmChange })[] {
  return changes
    .filter((change) => change.condition === condition.id)
    .map((change) => ({
      condition: condition.id,
      metric: change.metric,
      a: change.arm,
      b: "before",
      runs: change.runs,
      shift: change.shift ?? null,
      low: change.interval?.[0] ?? null,
      high: change.interval?.[1] ?? null,
      p: change.p ?? null,
      adjustedP: change.adjustedP ?? null,
      cliffsDelta: null,
      cohensD: null,
      equivalenceP: change.equivalenceP ?? null,
      detectable: null,
      change,
    }));
}

function changeTable(view: ConditionView, changes: readonly ArmChange[]): Table {
  return {
    title: "After minus before",
    head: ["arm", "number", "before", "after", "difference", "95 % interval", "p (Holm)", "runs", "conclusion"],
    rows: pairsOf(view, changes).map((pair) => {
      const { metric, before, after, arm, runs, shift } = pair.change;
      const percent = before === null || shift === undefined || before === 0 ? "" : ` (${short((100 * shift) / before)} %)`;
      return [
        arm,
        heading(metric),
        figure(metric, before),
        figure(metric, after),
        shift === undefined ? "–" : `${figure(metric, shift)}${percent}`,
        range(metric, pair.low, pair.high),
        chanceOf(pair.adjustedP),
        String(runs),
        conclusionOf(pair),
      ];
    }),
    note: "Hodges–Lehmann shift with its interval; Welch's test, corrected over all changes. Undecided means: too few runs to say either.",
  };
}
