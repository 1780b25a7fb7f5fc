import { writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { buildIfStale } from "../../tools/build-if-stale.js";
import { type Conclusion, type Precision, tooCloseToCall, verdictOf } from "./conclude.js";
import { type Cores, findCores, runWorkersOn, stopAllWorkers, stopWorkersOnExit } from "./processes.js";
import { createProgress, type Progress } from "./progress.js";
import { renderLastLine, renderReport, type Titles } from "./report.js";
import type { BenchResult, Machine, Row } from "./result.js";

/** The settings common to all benchmarks. */
export interface BenchContext {
  readonly root: string;
  readonly dist: string;
  readonly cores: Cores;
  readonly machine: Machine;
  readonly progress: Progress;
  /** When the process started, in milliseconds since the epoch: the budget of a quick run counts from there. */
  readonly startedAtMs: number;
}

export interface DriverOptions {
  /** The file that gets the whole result. */
  readonly json: string | undefined;
  /** The Node that runs the measured processes; by default the one that runs the bench. */
  readonly node: string | undefined;
  readonly build: boolean;
}

/** The command line of one bench. */
export interface Driver<O extends DriverOptions> {
  readonly name: string;
  readonly help: string;
  /** Undefined for `--help`. Throws an Error with a message for the user on invalid options. */
  parse(argv: readonly string[]): O | undefined;
  measure(options: O, context: BenchContext): Promise<Measured>;
}

export interface Measured {
  readonly result: BenchResult;
  readonly titles: Titles;
  /** Written to the file beside the result. */
  readonly details?: object;
}

/** Runs a bench as a program. Exit codes: 0 measured, whatever the verdict; 1 could not measure; 2 usage. */
export async function runDriver<O extends DriverOptions>(driver: Driver<O>): Promise<void> {
  let options: O | undefined;
  try {
    options = driver.parse(process.argv.slice(2));
  } catch (thrown) {
    process.stderr.write(`${messageOf(thrown)}\n\n${driver.help}\n`);
    process.exitCode = 2;
    return;
  }
  if (options === undefined) {
    process.stdout.write(`${driver.help}\n`);
    return;
  }
  try {
    await measureAndReport(driver, options);
  } catch (thrown) {
    process.stderr.write(`${driver.name}: ${messageOf(thrown)}\n`);
    process.exitCode = 1;
  }
}

async function measureAndReport<O extends DriverOptions>(driver: Driver<O>, options: O): Promise<void> {
  const startedAtMs = performance.timeOrigin;
  const root = fileURLToPath(new URL("../../", import.meta.url));
  stopWorkersOnExit();
  if (options.build) buildIfStale(root);
  const version = options.node === undefined ? process.version : runWorkersOn(options.node);
  const cores = findCores();
  const progress = createProgress(process.stderr);
  const context = { root, dist: join(root, "dist"), cores, machine: describeMachine(cores, version), progress, startedAtMs };
  try {
    const { result, titles, details } = await driver.measure(options, context);
    progress.clear();
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify({ ...result, ...details }, null, 2)}\n`);
    process.stdout.write(`${renderReport(result, titles)}\n\n${renderLastLine(result)}\n`);
  } finally {
    progress.clear();
    stopAllWorkers();
  }
}

function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The parts of a result that differ between benches. */
export interface ResultParts extends Pick<BenchResult, "bench" | "mode" | "rows" | "notes"> {
  readonly conclusion: Conclusion;
  /** The keys whose targets decide the verdict. */
  readonly wanted: readonly string[];
  readonly precision?: Precision;
}

export function resultOf(
  { machine, startedAtMs }: Pick<BenchContext, "machine" | "startedAtMs">,
  { bench, mode, rows, notes, conclusion, wanted, precision }: ResultParts,
): BenchResult {
  return {
    schema: 1,
    bench,
    mode,
    startedAt: new Date(startedAtMs).toISOString(),
    seconds: Math.round((Date.now() - startedAtMs) / 1000),
    machine,
    rounds: roundsOf(rows),
    rows,
    ...conclusion,
    verdict: verdictOf(conclusion, wanted, precision),
    notes,
  };
}

function roundsOf(rows: readonly Row[]): number {
  return rows[0]?.series.length ?? 0;
}

/** A note about targets that one run does not decide; none if there are no such targets. */
export function closeCalls(conclusion: Conclusion): readonly string[] {
  const close = tooCloseToCall(conclusion);
  return close.length === 0 ? [] : [`Too close to call in one run: ${close.join(", ")}.`];
}

/** The options common to all benchmarks, for `parseArgs`. */
export const COMMON_OPTIONS = {
  quick: { type: "boolean", default: false },
  rounds: { type: "string" },
  json: { type: "string" },
  node: { type: "string" },
  "no-build": { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

/** The options of a bench that has no others but these. */
export interface CommonOptions extends DriverOptions {
  readonly quick: boolean;
  readonly rounds: number;
}

/** `rounds` are the defaults of a full and of a quick run. */
export function parseCommonOptions(
  argv: readonly string[],
  rounds: { readonly full: number; readonly quick: number },
): CommonOptions | undefined {
  const { values } = parseArgs({ args: [...argv], options: COMMON_OPTIONS });
  return values.help ? undefined : commonOptions(values, rounds);
}

interface CommonValues {
  readonly quick: boolean;
  readonly rounds?: string | undefined;
  readonly json?: string | undefined;
  readonly node?: string | undefined;
  readonly "no-build": boolean;
}

export function commonOptions(values: CommonValues, rounds: { readonly full: number; readonly quick: number }): CommonOptions {
  return {
    quick: values.quick,
    rounds: values.rounds === undefined ? rounds[values.quick ? "quick" : "full"] : parseRounds(values.rounds),
    json: values.json,
    node: values.node,
    build: !values["no-build"],
  };
}

const MOST_ROUNDS = 1_000;

export function parseRounds(text: string): number {
  const rounds = Number(text);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > MOST_ROUNDS)
    throw new Error(`--rounds takes a number from 1 to ${MOST_ROUNDS}, not ${text}`);
  return rounds;
}

/** Describes the machine of a run. */
function describeMachine({ server }: Cores, node: string): Machine {
  const all = cpus();
  return {
    node,
    cpu: all[0]?.model ?? "unknown",
    cores: all.length,
    pinned: server !== undefined,
    loadBefore: loadavg()[0] ?? 0,
  };
}
