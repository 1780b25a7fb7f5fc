import { redisAvailable, startRedis } from "../../../test/redis-server.js";
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
import type { StoreArm } from "./arms.js";
import { RATIOS, TARGETS, TITLES } from "./ratios.js";
import { runStores } from "./run.js";

const HELP = `npm run bench:stores -- [options]

Measures the task stores behind one and the same server: memory, SQLite (WAL, synchronous NORMAL and FULL) and a Redis of
its own (appendfsync everysec and always). Task-producing sends over HTTP, 64 in flight, four events each; then how long
the rest of a cut stream takes. Prints a table with the ratio to memory and, as last line, one JSON object.

  --quick        12 rounds instead of 40; under a minute
  --rounds N
  --json FILE    write the whole result, every round, to FILE
  --node PATH    run the measured processes on another Node
  --no-build     measure dist/ as it is, even if older than the source
  --help

Only ratios within one run mean anything.`;

const ROUNDS = { full: 40, quick: 12 };
/** Rounds are added until memory is the same as itself, but not beyond this. */
const BUDGET_MS = { full: 240_000, quick: 45_000 };
const servers: { stop(): Promise<void> }[] = [];

async function measure({ quick, rounds }: CommonOptions, context: BenchContext): Promise<Measured> {
  try {
    const endAtMs = context.startedAtMs + (quick ? BUDGET_MS.quick : BUDGET_MS.full);
    const rows = await runStores({ ...context, rounds, endAtMs, redisUrl });
    const conclusion = conclude(RATIOS, rows);
    const mode = quick ? "quick" : "full";
    const why = whyInconclusive(conclusion, "The memory store");
    const notes = [...(why === undefined ? [] : [why]), ...closeCalls(conclusion)];
    const parts = { bench: "stores", mode, rows, conclusion, wanted: TARGETS, precision: "interval", notes } as const;
    return { result: resultOf(context, parts), titles: TITLES };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

async function redisUrl(promise: StoreArm["promise"]): Promise<string | undefined> {
  if (promise !== "everysec" && promise !== "always") return undefined;
  if (!(await redisAvailable())) {
    process.stderr.write("redis-server is not installed: its arms are skipped\n");
    return undefined;
  }
  const server = await startRedis({ appendfsync: promise });
  servers.push(server);
  return server.url;
}

await runDriver({ name: "bench:stores", help: HELP, parse: (argv) => parseCommonOptions(argv, ROUNDS), measure });
