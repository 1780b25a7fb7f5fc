import type { Table } from "../harness/table.js";
import type { Exclusion } from "./case.js";
import type { Metrics, PartAccuracy } from "./metrics.js";
import type { Report, RunReport } from "./report.js";
import type { Wrong } from "./score.js";
import type { Selective } from "./selective.js";
import type { Share } from "./share.js";
import type { Section } from "./table.js";

export interface TableOptions {
  /** Also every module that was not answered right. */
  readonly wrong: boolean;
}

/** The report as tables. Pure. */
export function sectionsOf(report: Report, { wrong }: TableOptions): readonly Section[] {
  const full = report.runs.filter(({ without }) => without.length === 0);
  return [
    { title: titleOf(report), tables: [inputTable(report), ...overview(report, full)] },
    ...full.map((run) => ({ title: run.name, tables: runTables(run, wrong) })),
    ...exclusionSection(report, full),
  ];
}

/** Named after the files that were measured. */
export function titleOf({ inputs }: Report): string {
  return `RouterBench: ${inputs.map(({ name }) => name.replace(/\.jsonl?$/, "")).join(", ")}`;
}

function inputTable({ inputs }: Report): Table {
  const rows = inputs.map(({ name, scenarios, modules }) => [name, String(scenarios), String(modules)]);
  return { title: "Files", head: ["file", "scenarios", "modules"], rows };
}

function overview(report: Report, full: readonly RunReport[]): readonly Table[] {
  const several = report.inputs.length > 1;
  return [
    summaryTable(report, full),
    ...(report.comparisons.length === 0 ? [] : [comparisonTable(report)]),
    ...(report.ablations.length === 0 ? [] : [ablationTable(report)]),
    partTable("By level", "level", full, ({ levels }) => levels),
    ...(several ? [partTable("By file", "file", full, ({ files }) => files)] : []),
  ];
}

function summaryTable({ baselines, trainedOn }: Report, full: readonly RunReport[]): Table {
  const lines: readonly (readonly [name: string, metrics: Metrics])[] = [
    ...full.map(({ name, metrics }) => [name, metrics] as const),
    ...baselines.map(({ name, metrics }) => [`baseline: ${name}`, metrics] as const),
  ];
  const apart = new Set(full.map(({ excluded }) => JSON.stringify(excluded))).size > 1;
  const training = trainedOn === null ? "leaving out one scenario at a time, on the rest of the same file" : `on ${trainedOn}`;
  return {
    title: "Accuracy (with Wilson 95 % intervals)",
    head: ["", "scenarios", "modules", "macro-F1", "abstained"],
    rows: lines.map(([name, { scenarios, modules, macroF1, abstained }]) => [
      name,
      withInterval(scenarios),
      withInterval(modules),
      decimals(macroF1),
      String(abstained),
    ]),
    note: `A scenario is right only if all its modules are; abstaining is not right. Baselines are what the router has to beat: \`majority\` always says the most frequent label, \`naive Bayes\` counts words; they are trained ${training}.${
      apart ? " The runs leave out different scenarios, so their figures are not over the same cases." : ""
    }`,
  };
}

function comparisonTable({ comparisons }: Report): Table {
  return {
    title: "Modes compared, module by module",
    head: ["", "modules", "only the first right", "only the second right", "p"],
    rows: comparisons.map(({ first, second, pairs, onlyFirst, onlySecond, p }) => [
      `${first} / ${second}`,
      String(pairs),
      String(onlyFirst),
      String(onlySecond),
      decimals(p),
    ]),
    note: "p is McNemar's exact test: how likely such a difference is if both are right equally often.",
  };
}

/** Each mode, and below it each run without a part of it. */
function ablationTable({ runs, ablations }: Report): Table {
  const rows = runs
    .filter(({ mode, without }) => without.length === 0 && ablations.some((each) => each.mode === mode))
    .flatMap((full) => [full, ...runs.filter(({ mode, without }) => mode === full.mode && without.length > 0)]);
  return {
    title: "What each part is worth (difference: without it, minus the full run)",
    head: ["", "scenarios", "difference", "modules", "difference", "macro-F1", "difference", "answers changed"],
    rows: rows.map(({ name, mode, without, metrics: { scenarios, modules, macroF1 } }) => {
      const less = ablations.find((each) => each.mode === mode && each.without === without[0]);
      const differences = less === undefined ? ["", "", ""] : [less.scenarios, less.modules, less.macroF1].map(signed);
      const [byScenario = "", byModule = "", byF1 = ""] = differences;
      const changed = less === undefined ? "" : String(less.changed);
      return [name, counted(scenarios), byScenario, counted(modules), byModule, decimals(macroF1), byF1, changed];
    }),
  };
}

function partTable<K>(
  title: string,
  part: string,
  full: readonly RunReport[],
  partsOf: (metrics: Metrics) => readonly PartAccuracy<K>[],
): Table {
  const keys = [...new Set(full.flatMap(({ metrics }) => partsOf(metrics).map((each) => each.part)))];
  return {
    title,
    head: [part, ...full.flatMap(({ name }) => [`${name}: scenarios`, `${name}: modules`])],
    rows: keys.map((key) => [
      typeof key === "number" ? `L${key}` : String(key ?? "none"),
      ...full.flatMap(({ metrics }) => {
        const found = partsOf(metrics).find((each) => each.part === key);
        return found === undefined ? ["–", "–"] : [withInterval(found.scenarios), withInterval(found.modules)];
      }),
    ]),
  };
}

function runTables({ metrics, wrong }: RunReport, showWrong: boolean): readonly Table[] {
  const { selective } = metrics;
  return [
    protocolTable(metrics),
    confusionTable(metrics),
    ...(selective === null ? [] : [coverageTable(selective), reliabilityTable(selective)]),
    ...(showWrong && wrong.length > 0 ? [wrongTable(wrong)] : []),
  ];
}

function protocolTable({ protocols }: Metrics): Table {
  return {
    title: "By protocol",
    head: ["protocol", "precision", "recall", "F1", "support"],
    rows: protocols.map(({ protocol, precision, recall, f1, support }) => [
      protocol,
      withInterval(precision),
      withInterval(recall),
      decimals(f1),
      String(support),
    ]),
  };
}

function confusionTable({ confusion: { protocols, rows } }: Metrics): Table {
  return {
    title: "Confusion (row: right, column: chosen)",
    head: ["", ...protocols, "abstained"],
    rows: rows.map(({ label, chosen, abstained }) => [label, ...[...chosen, abstained].map(String)]),
  };
}

function coverageTable({ curve, aurc, ece }: Selective): Table {
  return {
    title: "Accuracy over coverage (answers with at least this margin)",
    head: ["margin", "coverage", "accuracy"],
    rows: curve.map(({ threshold, coverage, accuracy }) => [
      threshold.toFixed(1),
      withInterval(coverage),
      withInterval(accuracy),
    ]),
    note:
      `Area under risk over coverage ${decimals(aurc)} (0 is best; what abstained comes last and counts as wrong). ` +
      `Expected calibration error of the margin ${decimals(ece)}, over what was answered, in ten bins.`,
  };
}

function reliabilityTable({ reliability }: Selective): Table {
  return {
    title: "Reliability (answers by their margin)",
    head: ["margin from", "mean margin", "accuracy"],
    rows: reliability.map(({ from, margin, accuracy }) => [from.toFixed(1), decimals(margin), withInterval(accuracy)]),
  };
}

function wrongTable(wrong: readonly Wrong[]): Table {
  return {
    title: "Not answered right",
    head: ["module", "right", "chosen", "margin", "evidence"],
    rows: wrong.map(({ module_id, label, chosen, margin, evidence_spans }) => [
      module_id,
      label,
      chosen ?? "abstained",
      margin.toFixed(2),
      evidence_spans.map((span) => `“${span}”`).join(" "),
    ]),
  };
}

function exclusionSection(report: Report, full: readonly RunReport[]): readonly Section[] {
  const lines: readonly (readonly [run: string, exclusion: Exclusion])[] = [
    ...report.excluded.map((each) => ["all", each] as const),
    ...full.flatMap(({ name, excluded }) => excluded.map((each) => [name, each] as const)),
  ];
  if (lines.length === 0) return [];
  const rows = lines.map(([run, { file, scenario_id, because }]) => [scenario_id ?? "(no id)", file, run, because]);
  const table: Table = { title: "Left out whole", head: ["scenario", "file", "run", "because"], rows };
  return [{ title: "Excluded scenarios", tables: [table] }];
}

function withInterval(share: Share): string {
  return share.value === null ? "–" : `${counted(share)} [${decimals(share.low)}, ${decimals(share.high)}]`;
}

function counted({ hits, of, value }: Share): string {
  return value === null ? "–" : `${decimals(value)} (${hits}/${of})`;
}

function decimals(value: number | null): string {
  return value === null ? "–" : value.toFixed(3);
}

function signed(value: number | null): string {
  return value === null ? "–" : `${value > 0 ? "+" : ""}${value.toFixed(3)}`;
}
