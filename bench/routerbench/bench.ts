import { type Case, type Exclusion, sortCases } from "./case.js";
import type { Engine, Run, RunTools } from "./entry.js";
import type { InputFile } from "./inputs.js";
import { type BenchSettings, plansOf } from "./plan.js";
import { type Report, reportOf } from "./report.js";
import { AgentError } from "./router.js";
import { runPlan } from "./run.js";
import { halfOf } from "./split.js";

/** The files a benchmark is made from. */
export interface BenchInputs {
  readonly scenarios: readonly InputFile[];
  /** Training data of the baselines. */
  readonly train?: InputFile | undefined;
  /** The instructions of the model, where they are not the router's own. */
  readonly prompt?: InputFile | undefined;
  /** The file that the ranking came from. */
  readonly ranking?: InputFile | undefined;
}

/** The result of a benchmark: the report and the runs it was made of. */
export interface Bench {
  readonly report: Report;
  readonly runs: readonly Run[];
}

/** All the decisions of all the runs are kept until they are written. */
const MAX_MODULES = 100_000;

/** Reads, runs and scores. Throws AgentError where nothing can be scored, and when cancelled. */
export async function runBench(inputs: BenchInputs, settings: BenchSettings, tools: RunTools): Promise<Bench> {
  const { engine } = tools;
  const { cases: all, excluded } = await casesOf(inputs.scenarios, engine);
  const cases = settings.split === null ? all : halfOf(all, settings.split, settings.seed);
  if (cases.length === 0) throw new AgentError("invalid_message", `the half ${settings.split} of so few scenarios is empty`);
  const train = inputs.train && { name: inputs.train.name, cases: (await casesOf([inputs.train], engine)).cases };
  const runs: Run[] = [];
  for (const plan of plansOf(settings)) runs.push(await runPlan(plan, cases, settings, tools));
  const report = reportOf({
    settings,
    protocols: namesOf(engine),
    files: inputs.scenarios.map(({ name }) => name),
    cases,
    excluded,
    runs,
    train,
  });
  return { report, runs };
}

function namesOf({ candidates }: Engine): readonly string[] {
  return candidates.map(({ name }) => name);
}

async function casesOf(
  files: readonly InputFile[],
  engine: Engine,
): Promise<{ readonly cases: readonly Case[]; readonly excluded: readonly Exclusion[] }> {
  const cases: Case[] = [];
  const excluded: Exclusion[] = [];
  for (const { name, text } of files) {
    const read = await engine.parse(text, name);
    const sorted = sortCases(name, read.scenarios, namesOf(engine));
    cases.push(...sorted.cases);
    for (const { scenario_id = null, where, because } of read.excluded)
      excluded.push({ file: name, scenario_id, because: `${where}: ${because}` });
    excluded.push(...sorted.excluded);
  }
  const modules = cases.reduce((sum, each) => sum + each.modules.length, 0);
  if (modules > MAX_MODULES)
    throw new AgentError("too_large", `there are ${modules} modules, and at most ${MAX_MODULES} are scored at once`);
  if (cases.length === 0) throw nothingToScore(files, excluded);
  return { cases, excluded };
}

function nothingToScore(files: readonly InputFile[], [first]: readonly Exclusion[]): AgentError {
  const where = files.map(({ name }) => name).join(", ");
  const why = first === undefined ? "" : `; ${first.scenario_id ?? "a scenario without id"}: ${first.because}`;
  return new AgentError("invalid_message", `no scenario of ${where} can be scored${why}`);
}
