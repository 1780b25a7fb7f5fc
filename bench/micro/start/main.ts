import { conclude, whyInconclusive } from "../../harness/conclude.js";
import {
  type BenchContext,
  type CommonOptions,
  closeCalls,
  type Measured,
  parseCommonOptions,
  resultOf,
  runDriver,
} from "../../harness/driver.js";
import { concludeStart, FLOORS, TARGETS, TITLES } from "./ratios.js";
import { runStarts } from "./run.js";

const HELP = `npm run bench:start -- [options]

Measures what a start costs: import of koine and of koine/router, and koine --help, each in a fresh process, against
node -e "". Milliseconds of CPU time and of wall time above the empty Node. Prints a table and, as last line, one JSON object.

  --quick        10 rounds instead of 40
  --rounds N     least rounds
  --json FILE    write the whole result, every round, to FILE
  --node PATH    measure another Node
  --no-build     measure dist/ as it is, even if older than the source
  --help

CPU time decides; rounds are added until the 95 % interval of the empty Node against itself is within 0.97 to 1.03, or the time
is up and the run is inconclusive.`;

const ROUNDS = { full: 40, quick: 10 };
const BUDGET_MS = { full: 180_000, quick: 45_000 };

async function measure({ quick, rounds, node }: CommonOptions, context: BenchContext): Promise<Measured> {
  const endAtMs = context.startedAtMs + (quick ? BUDGET_MS.quick : BUDGET_MS.full);
  const rows = await runStarts({ ...context, node: node ?? process.execPath, rounds, endAtMs });
  const conclusion = concludeStart(conclude([FLOORS], rows), rows);
  const why = whyInconclusive(conclusion, "An empty Node");
  const notes = [...(why === undefined ? [] : [why]), ...closeCalls(conclusion)];
  const mode = quick ? "quick" : "full";
  const parts = { bench: "start", mode, rows, conclusion, wanted: TARGETS, precision: "interval", notes } as const;
  return { result: resultOf(context, parts), titles: TITLES };
}

await runDriver({ name: "bench:start", help: HELP, parse: (argv) => parseCommonOptions(argv, ROUNDS), measure });
