import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { tooCloseToCall, verdictOf } from "../../harness/conclude.js";
import { buildIfStale, emitBench } from "../../harness/emit.js";
import { describeMachine } from "../../harness/machine.js";
import { findCores, stopAllWorkers, stopWorkersOnExit } from "../../harness/processes.js";
import { createProgress } from "../../harness/progress.js";
import { renderLastLine, renderReport } from "../../harness/report.js";
import type { BenchResult } from "../../harness/result.js";
import { short } from "../../harness/table.js";
import { concludeRouter, TARGETS, TITLES } from "./ratios.js";
import { type RouterRun, runRouter } from "./run.js";

/** `npm run bench:router`. Exit codes: 0 measured, whatever came out; 1 could not measure; 2 usage. */

const HELP = `npm run bench:router -- [options]

Measures how long the router takes for a decision, on the project's own scenarios: one call per module, all of them in one
call, and with sentence embeddings where those are installed. A list of keywords is the floor, run twice and interleaved.
Then how long a fresh process takes to its first decision, and what memory that costs. Whether decisions are right is told
by \`koine routerbench\`. Prints a table and, as last line, one JSON object.

  --quick        fewer rounds; under 50 seconds
  --rounds N     rounds without embeddings (full: 30; quick: 10, or as many as fit)
  --json FILE    write the whole result, every round, to FILE; --out FILE is the same
  --no-build     measure dist/ as it is, even if older than the source
  --help

Targets: a decision within 1 ms, with embeddings within 50 ms, by the median of all modules. A run whose second floor is not
within 0.95 to 1.05 of the first is inconclusive; one without embeddings is incomplete.`;

const FULL = { rounds: 30, sliceMs: 300, warmUpMs: 3000, loads: 15, semanticRounds: 7, budgetMs: Infinity } as const;
const QUICK = { rounds: 10, sliceMs: 150, warmUpMs: 1500, loads: 5, semanticRounds: 2, budgetMs: 35_000 } as const;
const root = fileURLToPath(new URL("../../../", import.meta.url));

interface Options {
  readonly quick: boolean;
  readonly rounds: number;
  readonly json: string | undefined;
  readonly build: boolean;
}

async function main(options: Options): Promise<void> {
  const startedAtMs = performance.timeOrigin;
  stopWorkersOnExit();
  if (options.build) buildIfStale(root);
  emitBench(root);
  const cores = findCores();
  const machine = describeMachine(cores);
  const progress = createProgress(process.stderr);
  try {
    const { budgetMs, ...plan } = options.quick ? QUICK : FULL;
    const places = { dist: join(root, "dist"), corpus: join(root, "routerbench", "corpus") };
    const endAtMs = startedAtMs + budgetMs;
    const run = await runRouter({ ...plan, ...places, cores, progress, rounds: options.rounds, endAtMs });
    const conclusion = concludeRouter(run);
    const { modules, loads, growth, rows } = run;
    const result: BenchResult = {
      schema: 1,
      bench: "router",
      mode: options.quick ? "quick" : "full",
      startedAt: new Date(startedAtMs).toISOString(),
      seconds: Math.round((Date.now() - startedAtMs) / 1000),
      machine,
      rounds: rows[0]?.series.length ?? 0,
      rows,
      ...conclusion,
      verdict: verdictOf(conclusion, TARGETS),
      notes: notesOn(run, tooCloseToCall(conclusion)),
    };
    progress.clear();
    if (options.json !== undefined)
      writeFileSync(options.json, `${JSON.stringify({ ...result, modules, growth, loads }, null, 2)}\n`);
    process.stdout.write(`${renderReport(result, TITLES)}\n\n${renderLastLine(result)}\n`);
  } finally {
    progress.clear();
    stopAllWorkers();
  }
}

function notesOn({ modules, growth, absent }: RouterRun, close: readonly string[]): readonly string[] {
  const { decisions, before, after } = growth;
  return [
    `${modules} modules. After ${decisions.toLocaleString("en-US")} decisions the process held ${short(after.heapMb)} MB of heap, before them ${short(before.heapMb)}.`,
    ...(absent === undefined ? [] : [`NOT MEASURED: decisions with sentence embeddings. ${absent}`]),
    ...(close.length === 0 ? [] : [`Too close to call in one run: ${close.join(", ")}.`]),
  ];
}

function readOptions(): Options | undefined {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      rounds: { type: "string" },
      json: { type: "string" },
      out: { type: "string" },
      "no-build": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const rounds = values.rounds === undefined ? (values.quick ? QUICK : FULL).rounds : Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 1000) throw new Error("--rounds takes a number from 1 to 1000");
  return { quick: values.quick, rounds, json: values.json ?? values.out, build: !values["no-build"] };
}

try {
  const options = readOptions();
  if (options === undefined) process.stdout.write(`${HELP}\n`);
  else
    await main(options).catch((thrown: unknown) => {
      process.stderr.write(`bench:router: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
      process.exitCode = 1;
    });
} catch (thrown) {
  process.stderr.write(`${thrown instanceof Error ? thrown.message : String(thrown)}\n\n${HELP}\n`);
  process.exitCode = 2;
}
