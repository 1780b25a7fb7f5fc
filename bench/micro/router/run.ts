import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isConclusive, ratiosOf } from "../../harness/conclude.js";
import { type Cores, startWorker, type Worker } from "../../harness/processes.js";
import type { Progress } from "../../harness/progress.js";
import type { Measurement, Row } from "../../harness/result.js";
import { type Arm, runSection } from "../../harness/rounds.js";
import { median } from "../../harness/statistics.js";
import { ARMS, AT_ONCE, FLOORS, type Measured, PLAIN, SEMANTIC } from "./ratios.js";
import type { Corpus, Growth, Held, Load, Opening, Order, Work } from "./workload.js";

export interface RouterBench {
  readonly dist: string;
  /** Files of scenarios. */
  readonly corpus: string;
  readonly cores: Cores;
  readonly progress: Progress;
  readonly rounds: number;
  /** The duration of each arm of a round. */
  readonly sliceMs: number;
  readonly warmUpMs: number;
  /** Processes started to measure the first decision. */
  readonly loads: number;
  /** Rounds with embeddings, which take longer. */
  readonly semanticRounds: number;
  /** Milliseconds since the epoch: rounds that do not fit are skipped, except the first. */
  readonly endAtMs: number;
}

export interface RouterRun extends Measured {
  readonly modules: number;
  /** Why there are no figures with embeddings. */
  readonly absent: string | undefined;
}

/** The router without embeddings beside a floor, in fresh processes, and with embeddings where they are installed. */
export async function runRouter(bench: RouterBench): Promise<RouterRun> {
  const paths = readdirSync(bench.corpus)
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((name) => join(bench.corpus, name));
  const corpus: Corpus = { paths };
  const { modules, rows, growth, typicalMs } = await runPlain(bench, corpus);
  const loads = await runLoads(bench, corpus);
  const semantic = await runSemantic(bench, corpus);
  return { modules, growth, typicalMs, loads, ...semantic, rows: [...rows, ...semantic.rows] };
}

function start({ dist, cores }: RouterBench, name: string): Worker {
  return startWorker(name, join(dist, "bench", "micro", "router", "workers", `${name}.js`), { core: cores.load });
}

async function runPlain(bench: RouterBench, corpus: Corpus) {
  const { rounds, sliceMs, warmUpMs, progress } = bench;
  const worker = start(bench, "deciding");
  const modules = await worker.ask<number>("read", corpus);
  const measure = (work: Work, ms: number, counted: boolean) =>
    worker.ask<Measurement>("measure", { work, ms, counted } satisfies Order);
  // Warm up all arms before the first round: an arm that starts later changes how the others were compiled.
  for (const work of ["keywords", "route", "all at once"] as const) {
    progress.show(`${work} warms up`);
    await measure(work, warmUpMs, false);
  }
  const before = await worker.ask<Held>("held");
  const arm = (name: string, work: Work): Arm => ({ name, measure: () => measure(work, sliceMs, true) });
  const plain = await runRounds(bench, {
    name: PLAIN,
    arms: [arm(ARMS.floor, "keywords"), arm(ARMS.again, "keywords"), arm(ARMS.route, "route")],
    again: (done, rows) => done < rounds || (done < 2 * rounds && !floorsAgree(rows)),
  });
  const atOnce = await runRounds(bench, {
    name: AT_ONCE,
    arms: [arm(ARMS.route, "all at once")],
    again: (done) => done < rounds,
  });
  const after = await worker.ask<Held>("held");
  const typicalMs = await worker.ask<readonly number[]>("typical");
  worker.stop();
  const rows = [...plain, ...atOnce];
  const growth: Growth = { decisions: decisionsIn(rows), before, after };
  return { modules, rows, growth, typicalMs };
}

function decisionsIn(rows: readonly Row[]): number {
  const series = rows.filter(({ arm }) => arm === ARMS.route).flatMap((row) => row.series);
  return series.reduce((sum, { requests = 0 }) => sum + requests, 0);
}

function floorsAgree(rows: readonly Row[]): boolean {
  const perRound = ratiosOf(FLOORS, rows);
  return perRound !== undefined && isConclusive(median(perRound));
}

async function runLoads(bench: RouterBench, { paths }: Corpus): Promise<readonly Load[]> {
  const [line = ""] = readFileSync(paths[0] ?? "", "utf8").split("\n", 1);
  const record: unknown = JSON.parse(line);
  const loads: Load[] = [];
  for (let number = 1; number <= bench.loads; number++) {
    bench.progress.show(`first decision of a fresh process · ${number} of ${bench.loads}`);
    const worker = start(bench, "fresh");
    loads.push(await worker.ask<Load>("decideFirst", record));
    worker.stop();
  }
  return loads;
}

async function runSemantic(bench: RouterBench, corpus: Corpus): Promise<Pick<RouterRun, "rows" | "openingsMs" | "absent">> {
  const worker = start(bench, "semantic");
  try {
    bench.progress.show("sentence embeddings open");
    const opening = await worker.ask<Opening>("tryToOpen");
    if (opening.kind === "absent") return { rows: [], openingsMs: [], absent: opening.because };
    await worker.ask<number>("read", corpus);
    const rows = await runRounds(bench, {
      name: SEMANTIC,
      arms: [{ name: ARMS.embedded, measure: () => worker.ask<Measurement>("measure") }],
      again: (done) => done < bench.semanticRounds,
    });
    return { rows, openingsMs: [opening.ms], absent: undefined };
  } finally {
    worker.stop();
  }
}

/** The planned rounds, as far as the time allows. */
function runRounds(
  { progress, endAtMs }: RouterBench,
  section: { readonly name: string; readonly arms: readonly Arm[]; again(done: number, rows: readonly Row[]): boolean },
): Promise<readonly Row[]> {
  return runSection({
    ...section,
    again: (done, rows) => done === 0 || (Date.now() < endAtMs && section.again(done, rows)),
    onStep: (round, arm) => progress.show(`${section.name} · round ${round + 1} · ${arm}`),
  });
}
