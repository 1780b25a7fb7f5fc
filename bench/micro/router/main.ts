import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Conclusion } from "../../harness/conclude.js";
import {
  type BenchContext,
  COMMON_OPTIONS,
  type CommonOptions,
  closeCalls,
  commonOptions,
  type Measured,
  resultOf,
  runDriver,
} from "../../harness/driver.js";
import { short } from "../../harness/table.js";
import { concludeRouter, TARGETS, TITLES } from "./ratios.js";
import { type RouterRun, runRouter } from "./run.js";

const HELP = `npm run bench:router -- [options]

Measures how long the router takes for a decision, on the project's own scenarios: one call per module, all of them in one
call, and with sentence embeddings where those are installed. A list of keywords is the floor, run twice and interleaved.
Then how long a fresh process takes to its first decision, and what memory that costs. Whether decisions are right is told
by \`koine routerbench\`. Prints a table and, as last line, one JSON object.

  --quick        fewer rounds; under 50 seconds
  --rounds N     rounds without embeddings (full: 30; quick: 10, or as many as fit)
  --json FILE    write the whole result, every round, to FILE; --out FILE is the same
  --node PATH    run the measured processes on another Node
  --no-build     measure dist/ as it is, even if older than the source
  --help

Targets: a decision within 1 ms, by the median of all, by the median of each of 99 modules in 100, and by CPU time; with
embeddings within 50 ms, by the median. A run whose second floor is not
within 0.95 to 1.05 of the first is inconclusive; one without embeddings is incomplete.`;

const FULL = { rounds: 30, sliceMs: 300, warmUpMs: 3000, loads: 15, semanticRounds: 7, budgetMs: Infinity } as const;
const QUICK = { rounds: 10, sliceMs: 150, warmUpMs: 1500, loads: 5, semanticRounds: 2, budgetMs: 35_000 } as const;

async function measure({ quick, rounds }: CommonOptions, context: BenchContext): Promise<Measured> {
  const { budgetMs, ...plan } = quick ? QUICK : FULL;
  const corpus = join(context.root, "bench", "routerbench", "corpus");
  const run = await runRouter({ ...plan, ...context, corpus, rounds, endAtMs: context.startedAtMs + budgetMs });
  const { modules, loads, growth, rows } = run;
  const conclusion = concludeRouter(run);
  const mode = quick ? "quick" : "full";
  const notes = notesOn(run, conclusion);
  const result = resultOf(context, { bench: "router", mode, rows, conclusion, wanted: TARGETS, notes });
  return { result, titles: TITLES, details: { modules, growth, loads } };
}

function notesOn({ modules, growth, absent }: RouterRun, conclusion: Conclusion): readonly string[] {
  const { decisions, before, after } = growth;
  return [
    `${modules} modules. After ${decisions.toLocaleString("en-US")} decisions the process held ${short(after.heapMb)} MB of heap, before them ${short(before.heapMb)}.`,
    ...(absent === undefined ? [] : [`NOT MEASURED: decisions with sentence embeddings. ${absent}`]),
    ...closeCalls(conclusion),
  ];
}

function parse(argv: readonly string[]): CommonOptions | undefined {
  const { values } = parseArgs({ args: [...argv], options: { ...COMMON_OPTIONS, out: { type: "string" } } });
  if (values.help) return undefined;
  const json = values.json ?? values.out;
  return commonOptions({ ...values, json }, { full: FULL.rounds, quick: QUICK.rounds });
}

await runDriver({ name: "bench:router", help: HELP, parse, measure });
