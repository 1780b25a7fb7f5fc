import { route, type Scenario } from "../../../../src/router/index.js";
import type { Measurement } from "../../../harness/result.js";
import { median } from "../../../harness/statistics.js";
import { answerCommands } from "../../../harness/worker.js";
import { type Case, casesOf, decideAbout, readScenarioFiles, timeEach } from "../cases.js";
import { held } from "../held.js";
import { byKeywords } from "../keywords.js";
import type { Corpus, Order } from "../workload.js";

/** The router without embeddings, and the floor beside it, in one process. */

let scenarios: readonly Scenario[] = [];
let cases: readonly Case[] = [];

/** For each case, how long its decisions took in rounds that count. */
let times: readonly number[][] = [];

answerCommands({ read, measure, held, typical });

/** The number of modules. */
async function read(corpus: Corpus): Promise<number> {
  scenarios = await readScenarioFiles(corpus);
  cases = casesOf(scenarios);
  times = cases.map(() => []);
  return cases.length;
}

function measure({ work, ms, counted }: Order): Promise<Measurement> {
  if (work === "all at once") return allAtOnce(ms);
  if (work === "keywords") return timeEach(cases, ms, countWords);
  return timeEach(cases, ms, decideAbout, counted ? (index, took) => times[index]?.push(took) : undefined);
}

/** The median of each module, in milliseconds. */
async function typical(): Promise<readonly number[]> {
  return times.map(median);
}

async function countWords({ text }: Case): Promise<void> {
  if (byKeywords(text) === "") throw new Error("the list of words chose nothing");
}

async function allAtOnce(ms: number): Promise<Measurement> {
  const start = performance.now();
  let modules = 0;
  do {
    const { decisions } = await route(scenarios);
    if (decisions.length !== cases.length) throw new Error(`${decisions.length} decisions about ${cases.length} modules`);
    modules += decisions.length;
  } while (performance.now() - start < ms);
  return { perSecond: (modules / (performance.now() - start)) * 1000, requests: modules };
}
