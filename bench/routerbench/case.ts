import type { Module, Scenario } from "./router.js";

/** A module whose right answer is known. */
export interface LabelledModule extends Module {
  readonly label: string;
}

/** A scenario that can be scored: every module has a right answer, and it is a candidate's. */
export interface Case {
  /** Base name of the file it came from. */
  readonly file: string;
  readonly scenario: Scenario;
  /** Those of the scenario. */
  readonly modules: readonly LabelledModule[];
}

/** A scenario that was excluded, and why. */
export interface Exclusion {
  readonly file: string;
  /** Null where the file does not even give an id. */
  readonly scenario_id: string | null;
  readonly because: string;
}

export interface Sorted {
  readonly cases: readonly Case[];
  readonly excluded: readonly Exclusion[];
}

/** List-wise exclusion: one module that cannot be scored excludes its scenario; nothing is imputed. */
export function sortCases(file: string, scenarios: readonly Scenario[], protocols: readonly string[]): Sorted {
  const cases: Case[] = [];
  const excluded: Exclusion[] = [];
  const ids = new Set<string>();
  for (const scenario of scenarios) {
    const modules = scenario.modules.flatMap((module) => labelled(module, protocols));
    const because = ids.has(scenario.id)
      ? "an earlier scenario of the file has the same id"
      : flawOf(scenario, modules.length, protocols);
    if (because === undefined) cases.push({ file, scenario, modules });
    else excluded.push({ file, scenario_id: scenario.id, because });
    ids.add(scenario.id);
  }
  return { cases, excluded };
}

function labelled(module: Module, protocols: readonly string[]): readonly LabelledModule[] {
  const { label } = module;
  return label !== undefined && protocols.includes(label) ? [{ ...module, label }] : [];
}

function flawOf({ modules }: Scenario, scorable: number, protocols: readonly string[]): string | undefined {
  if (modules.length === 0) return "it has no modules";
  if (scorable === modules.length) return undefined;
  const flawed = modules.find((module) => labelled(module, protocols).length === 0);
  if (flawed?.label === undefined) return `module ${flawed?.id ?? ""} has no label`;
  return `the label of module ${flawed.id} is ${flawed.label}, which is not a candidate`;
}

/** The answers stay here: the router gets neither labels nor levels. */
export function withoutAnswers({ id, description, modules }: Scenario): Scenario {
  return { id, description, modules: modules.map(withoutLabel) };
}

export function withoutLabel({ label: _label, ...rest }: Module): Module {
  return rest;
}
