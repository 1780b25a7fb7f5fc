import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { parseScenarioText, type RouterSettings, route, type Scenario } from "../../../src/router/index.js";
import type { Measurement } from "../../harness/result.js";
import { percentile, variation } from "../../harness/statistics.js";
import type { Corpus } from "./workload.js";

/** One module, alone in its scenario, so that each decision is timed separately. */
export interface Case {
  readonly scenario: Scenario;
  readonly id: string;
  /** The text of the module, for the baseline. */
  readonly text: string;
}

export async function readScenarioFiles({ paths }: Corpus): Promise<readonly Scenario[]> {
  const read = await Promise.all(paths.map(async (path) => parseScenarioText(await readFile(path, "utf8"), basename(path))));
  const left = read.flatMap(({ excluded }) => excluded)[0];
  if (left !== undefined) throw new Error(`a scenario is malformed: ${left.where} ${left.because}`);
  return read.flatMap(({ scenarios }) => scenarios);
}

export function casesOf(scenarios: readonly Scenario[]): readonly Case[] {
  return scenarios.flatMap((scenario) =>
    scenario.modules.map((module) => ({
      scenario: { ...scenario, modules: [module] },
      id: module.id,
      text: module.passages.map(({ text }) => text).join("\n"),
    })),
  );
}

/** The time of one case. */
type OnTime = (index: number, ms: number) => void;

/** Goes through all cases, again until the time is over, and times each. */
export async function timeEach(
  cases: readonly Case[],
  ms: number,
  one: (each: Case) => Promise<void>,
  onTime?: OnTime,
): Promise<Measurement> {
  const times: number[] = [];
  const cpu = process.cpuUsage();
  const start = performance.now();
  let last = start;
  do {
    for (const [index, each] of cases.entries()) {
      await one(each);
      const now = performance.now();
      times.push(now - last);
      onTime?.(index, now - last);
      last = now;
    }
  } while (last - start < ms);
  const { user, system } = process.cpuUsage(cpu);
  const sorted = Float64Array.from(times).sort();
  return {
    perSecond: (times.length / (last - start)) * 1000,
    p50Us: percentile(sorted, 0.5) * 1000,
    p95Us: percentile(sorted, 0.95) * 1000,
    p99Us: percentile(sorted, 0.99) * 1000,
    variation: variation(sorted),
    // Of the whole process: its threads compile, and collect garbage.
    cpuUs: (user + system) / times.length,
    requests: times.length,
  };
}

/** Asks the router about one case, and looks whether it has answered that. */
export async function decideAbout({ scenario, id }: Case, settings: RouterSettings = {}): Promise<void> {
  const { decisions } = await route(scenario, settings);
  if (decisions.length !== 1 || decisions[0]?.module_id !== id) throw new Error(`${id} was not decided about, alone`);
}
