import { type Conclusion, conclude, isSame, tooCloseToCall, whyInconclusive } from "../../harness/conclude.js";
import { type BenchContext, resultOf } from "../../harness/driver.js";
import { stopAllWorkers } from "../../harness/processes.js";
import type { BenchResult, Machine, Row } from "../../harness/result.js";
import { type Arm, runSection } from "../../harness/rounds.js";
import { clientArms } from "./clients.js";
import { keptTaskArms, openStreamArms } from "./growth.js";
import { grpcArms } from "./grpc.js";
import type { Options } from "./options.js";
import { FULL_KEYS, QUICK_KEYS, RATIOS, type SectionName } from "./ratios.js";
import { ANSWERS_PER_STREAM, bothArms, codecArms, memoryArms, type SectionSettings, serverArms, streamArms } from "./sections.js";
import { type Stage, setStage } from "./stage.js";
import { growthOf, isFlat, watchTasksKept } from "./tasks-kept.js";

const QUICK_BUDGET_MS = 44_000;
/**
 * How many answers warm an arm up. Koine has more code than a floor, and V8 has compiled all of it later: the CPU time of a message over gRPC
 * falls until about 30,000 answers (220 µs after 11,000, 125 µs after 31,000; the floor: 92 and 81), that of a stream until about 3,000.
 */
const WARM_ANSWERS = 30_000;
const QUICK: SectionSettings = {
  window: { rampMs: 0, windowMs: 200 },
  warmUp: { rampMs: 0, windowMs: 700, minAnswers: 8000 },
  quick: true,
};
const FULL: SectionSettings = {
  window: { rampMs: 0, windowMs: 250 },
  warmUp: { rampMs: 0, windowMs: 1500, minAnswers: WARM_ANSWERS },
  quick: false,
};
const STREAMS: SectionSettings = {
  quick: false,
  window: { rampMs: 100, windowMs: 400 },
  warmUp: { rampMs: 0, windowMs: 1500, minAnswers: WARM_ANSWERS / ANSWERS_PER_STREAM },
};
/** How often the processes of the servers are started anew. */
const GENERATIONS = 2;
const QUICK_ROUNDS = 24;
const FULL_ROUNDS = 20;
/** So many times the planned rounds are run at most, while the floor is not known well enough to be the same as itself. */
const MOST_TIMES = 20;
const MEMORY_ROUNDS = 3;

/** Runs the sections that the options select. */
export async function runBench(options: Options, context: BenchContext): Promise<BenchResult> {
  const { machine, dist, cores } = context;
  const stage = await setStage(dist, options.arms, cores);
  const run = { options, stage, ...context };
  const rows =
    options.mode === "quick" ? await runQuick(run) : options.mode === "full" ? await runFull(run) : await runMemory(run);
  const conclusion = conclude(RATIOS, rows);
  const notes = notesOf(machine, rows, conclusion);
  const wanted = options.mode === "quick" ? QUICK_KEYS : FULL_KEYS;
  const result = resultOf(context, { bench: "a2a", mode: options.mode, rows, conclusion, wanted, precision: "interval", notes });
  return options.mode === "memory" ? { ...result, ...concludeMemory(rows) } : result;
}

interface Run extends BenchContext {
  readonly options: Options;
  readonly stage: Stage;
}

/** The planned rounds, then more while the two floors differ and time is left. */
async function runQuick(run: Run): Promise<readonly Row[]> {
  const planned = run.options.rounds ?? QUICK_ROUNDS;
  const now = Date.now();
  const budgetMs = run.startedAtMs + QUICK_BUDGET_MS - now;
  return runGenerations(
    run,
    QUICK,
    (generation, done, rows) => {
      const until = now + (budgetMs * (generation + 1)) / GENERATIONS;
      const isEnough = done >= planned / GENERATIONS && (!isLast(generation) || floorsAgree(rows));
      return !isEnough && (done === 0 || Date.now() + QUICK.window.windowMs < until);
    },
    () => Date.now() < now + (2 * budgetMs) / 3,
  );
}

/** Asked before each round of a generation, with its rounds so far and all rows. */
type Again = (generation: number, done: number, rows: readonly Row[]) => boolean;

const isLast = (generation: number): boolean => generation === GENERATIONS - 1;

/** `mayBegin`: whether there is time for another generation; on a busy machine the warm-up of one can take all of it. */
async function runGenerations(run: Run, settings: SectionSettings, again: Again, mayBegin = () => true): Promise<readonly Row[]> {
  let all: readonly Row[] = [];
  for (let generation = 0; generation < GENERATIONS && (generation === 0 || mayBegin()); generation++) {
    const earlier = all;
    const joined = (rows: readonly Row[]) =>
      rows.map((row, index) => ({ ...row, series: [...(earlier[index]?.series ?? []), ...row.series] }));
    const arms = await serverArms(run.stage, settings, generation);
    all = joined(await runArms(run, "server", arms, (done, rows) => again(generation, done, joined(rows))));
    stopAllWorkers();
  }
  return all;
}

async function runFull(run: Run): Promise<readonly Row[]> {
  const rounds = run.options.rounds ?? FULL_ROUNDS;
  const upTo = (limit: number) => (done: number) => done < limit;
  const rows: Row[] = [];
  const section = async (
    name: SectionName,
    arms: () => Promise<readonly Arm[]> | readonly Arm[],
    again: (done: number, rows: readonly Row[]) => boolean,
  ) => {
    if (run.options.section !== undefined && run.options.section !== name) return;
    rows.push(...(await runArms(run, name, await arms(), again)));
    // Each section starts fresh: idle servers with full heaps would disturb it.
    stopAllWorkers();
  };
  if (run.options.section === undefined || run.options.section === "server") {
    const again: Again = (generation, done, sofar) =>
      done < rounds / GENERATIONS || (isLast(generation) && done < MOST_TIMES * rounds && !floorsAgree(sofar));
    rows.push(...(await runGenerations(run, FULL, again)));
  }
  await section("both", () => bothArms(run.stage, FULL), upTo(rounds));
  await section("streams", () => streamArms(run.stage, STREAMS), upTo(rounds));
  if (run.stage.families.has("koine")) {
    await section("client send", () => clientArms(run.stage, FULL, "send"), upTo(rounds));
    await section("client stream", () => clientArms(run.stage, STREAMS, "stream"), upTo(rounds));
    await section("kept tasks", () => keptTaskArms(run.stage, FULL), upTo(rounds));
    await section("open streams", () => openStreamArms(run.stage, FULL), upTo(rounds));
  }
  await section("grpc", () => grpcArms(run.stage, FULL), upTo(rounds));
  await section("memory", () => memoryArms(run.stage), upTo(Math.min(rounds, MEMORY_ROUNDS)));
  if (run.stage.families.has("koine")) await section("codec", () => codecArms(run.stage), upTo(rounds));
  return rows;
}

function runMemory({ stage, progress }: Run): Promise<readonly Row[]> {
  return watchTasksKept(stage, (arm, sends) => progress.show(`${arm}: ${sends.toLocaleString("en-US")} of 100,000 tasks`));
}

function runArms(
  run: Run,
  name: SectionName,
  arms: readonly Arm[],
  again: (done: number, rows: readonly Row[]) => boolean,
): Promise<readonly Row[]> {
  const onStep = (round: number, arm: string) => run.progress.show(`${name} · round ${round + 1} · ${arm}`);
  return runSection({ name, arms, again, onStep });
}

function floorsAgree(rows: readonly Row[]): boolean {
  const definition = RATIOS.find(({ key }) => key === "floor_vs_floor");
  return definition !== undefined && isSame(definition, rows) === true;
}

function concludeMemory(rows: readonly Row[]): Pick<BenchResult, "ratios" | "targets" | "verdict"> {
  const growth = new Map(rows.map((row) => [row.arm, row.series.map(({ rssMb }) => rssMb ?? Number.NaN)]));
  const ratios = Object.fromEntries(
    [...growth].map(([arm, series]) => [`${arm.replace("-", "")}_rss_growth_over_100000_tasks`, growthOf(series)]),
  );
  const koine = growth.get("koine");
  if (koine === undefined) return { ratios, targets: {}, verdict: "incomplete" };
  return {
    ratios,
    targets: { koine_rss_growth_over_100000_tasks: { atMost: 1.1, met: isFlat(koine) } },
    verdict: isFlat(koine) ? "met" : "missed",
  };
}

function notesOf(machine: Machine, rows: readonly Row[], conclusion: Conclusion): readonly string[] {
  const notes: string[] = [];
  const why = rows.some((row) => row.section === "server") ? whyInconclusive(conclusion, "The floor") : undefined;
  if (why !== undefined) notes.push(why);
  const close = tooCloseToCall(conclusion);
  if (close.length > 0)
    notes.push(`Too close to call in one run (the target lies inside the 95 % interval): ${close.join(", ")}.`);
  if (machine.loadBefore > machine.cores / 2) {
    notes.push(
      `The machine was busy before the run began (load ${machine.loadBefore.toFixed(1)} on ${machine.cores} cores). Run again when it is quiet.`,
    );
  }
  if (!machine.pinned) notes.push("Server and load could not be pinned to different cores; expect more noise.");
  return notes;
}
