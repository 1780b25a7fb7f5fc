import { BASELINES, type Baseline, runBaseline } from "./baselines.js";
import type { Case, Exclusion } from "./case.js";
import type { Run } from "./entry.js";
import { type Comparison, compareRuns } from "./mcnemar.js";
import { type Metrics, measure } from "./metrics.js";
import type { Outcome } from "./outcome.js";
import { type BenchSettings, inOrder, type Plan } from "./plan.js";
import { type Scored, scoreRun, type Wrong } from "./score.js";

/** How one run came out. */
export interface RunReport extends Plan {
  readonly metrics: Metrics;
  /** Beyond those that the files themselves exclude. */
  readonly excluded: readonly Exclusion[];
  readonly wrong: readonly Wrong[];
}

/** The effect of a part of the router: the run without it minus the full one. */
export interface AblationReport {
  readonly mode: string;
  readonly without: string;
  readonly scenarios: number | null;
  readonly modules: number | null;
  readonly macroF1: number | null;
  /** Modules that got another answer. */
  readonly changed: number;
}

export interface BaselineReport {
  readonly name: Baseline;
  readonly metrics: Metrics;
}

/** The report of a benchmark. `schema` changes when a member changes its meaning. */
export interface Report {
  readonly schema: 1;
  readonly settings: BenchSettings;
  readonly inputs: readonly { readonly name: string; readonly scenarios: number; readonly modules: number }[];
  /** Base name of the file on which the baselines were trained; null: leave-one-scenario-out on the same file. */
  readonly trainedOn: string | null;
  /** Excluded from every run, because of the contents of the files. */
  readonly excluded: readonly Exclusion[];
  readonly runs: readonly RunReport[];
  /** Each pair of full runs, module by module. */
  readonly comparisons: readonly Comparison[];
  readonly ablations: readonly AblationReport[];
  readonly baselines: readonly BaselineReport[];
}

export interface ReportParts {
  readonly settings: BenchSettings;
  readonly protocols: readonly string[];
  readonly files: readonly string[];
  readonly cases: readonly Case[];
  readonly excluded: readonly Exclusion[];
  readonly runs: readonly Run[];
  readonly train: { readonly name: string; readonly cases: readonly Case[] } | undefined;
}

/** Pure: the same decisions give the same report. */
export function reportOf({ settings, protocols, files, cases, excluded, runs, train }: ReportParts): Report {
  const scored = runs.map((run) => ({ plan: run.plan, ...scoreRun(run) }));
  return {
    schema: 1,
    settings: inOrder(settings),
    inputs: files.map((name) => ({ name, ...countsOf(cases.filter(({ file }) => file === name)) })),
    trainedOn: train?.name ?? null,
    excluded,
    runs: scored.map(({ plan, outcomes, ...rest }) => ({
      ...plan,
      metrics: measure(outcomes, protocols),
      excluded: rest.excluded,
      wrong: rest.wrong,
    })),
    comparisons: comparisonsOf(scored),
    ablations: ablationsOf(scored, protocols),
    baselines: BASELINES.map((name) => ({
      name,
      metrics: measure(runBaseline(name, cases, { protocols, train: train?.cases }), protocols),
    })),
  };
}

function countsOf(cases: readonly Case[]): { readonly scenarios: number; readonly modules: number } {
  return { scenarios: cases.length, modules: cases.reduce((sum, { modules }) => sum + modules.length, 0) };
}

function comparisonsOf(scored: readonly ScoredPlan[]): readonly Comparison[] {
  const full = scored
    .filter(({ plan }) => plan.without.length === 0)
    .map(({ plan, outcomes }) => ({ name: plan.name, outcomes }));
  return full.flatMap((first, index) => full.slice(index + 1).map((second) => compareRuns(first, second)));
}

type ScoredPlan = Scored & { readonly plan: Plan };

function ablationsOf(scored: readonly ScoredPlan[], protocols: readonly string[]): readonly AblationReport[] {
  return scored.flatMap((less) => {
    const [without] = less.plan.without;
    const full = scored.find(({ plan }) => plan.mode === less.plan.mode && plan.without.length === 0);
    if (without === undefined || full === undefined) return [];
    const [before, after] = [measure(full.outcomes, protocols), measure(less.outcomes, protocols)];
    return [
      {
        mode: less.plan.mode,
        without,
        scenarios: minus(after.scenarios.value, before.scenarios.value),
        modules: minus(after.modules.value, before.modules.value),
        macroF1: minus(after.macroF1, before.macroF1),
        changed: changedBetween(full.outcomes, less.outcomes),
      },
    ];
  });
}

function minus(a: number | null, b: number | null): number | null {
  return a === null || b === null ? null : a - b;
}

function changedBetween(before: readonly Outcome[], after: readonly Outcome[]): number {
  const chosen = new Map(before.map((outcome) => [keyOf(outcome), outcome.chosen]));
  return after.filter((outcome) => chosen.has(keyOf(outcome)) && chosen.get(keyOf(outcome)) !== outcome.chosen).length;
}

function keyOf({ file, scenario_id, module_id }: Outcome): string {
  return JSON.stringify([file, scenario_id, module_id]);
}

const DECIMALS = 1e6;

/** Six decimals are more than any case count supports, and keep the text the same where arithmetic differs in the last bit. */
export function reportJson(report: Report): string {
  const rounded = (_key: string, value: unknown): unknown =>
    typeof value === "number" ? Math.round(value * DECIMALS) / DECIMALS : value;
  return `${JSON.stringify(report, rounded, 2)}\n`;
}
