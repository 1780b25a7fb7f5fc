import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { redisAvailable, startRedis } from "../../../test/redis-server.js";
import { conclude, tooCloseToCall, verdictOf } from "../../harness/conclude.js";
import { buildIfStale, emitBench } from "../../harness/emit.js";
import { describeMachine } from "../../harness/machine.js";
import { findCores, stopAllWorkers, stopWorkersOnExit } from "../../harness/processes.js";
import { createProgress } from "../../harness/progress.js";
import { renderLastLine, renderReport } from "../../harness/report.js";
import type { BenchResult } from "../../harness/result.js";
import type { StoreArm } from "./arms.js";
import { RATIOS, TARGETS, TITLES } from "./ratios.js";
import { runStores } from "./run.js";

/** `npm run bench:stores`. Exit codes: 0 measured, whatever came out; 1 could not measure; 2 usage. */

const HELP = `npm run bench:stores -- [options]

Measures the task stores behind one and the same server: memory, SQLite (WAL, synchronous NORMAL and FULL) and a Redis of
its own (appendfsync everysec and always). Task-producing sends over HTTP, 64 in flight, four events each; then how long
the rest of a cut stream takes. Prints a table with the ratio to memory and, as last line, one JSON object.

  --quick        5 rounds instead of 15
  --rounds N
  --json FILE    write the whole result, every round, to FILE
  --no-build     measure dist/ as it is, even if older than the source
  --help

Only ratios within one run mean anything.`;

const ROUNDS = 15;
const QUICK_ROUNDS = 5;
const root = fileURLToPath(new URL("../../../", import.meta.url));
const servers: { stop(): Promise<void> }[] = [];

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
    const rows = await runStores({ dist: join(root, "dist"), cores, progress, rounds: options.rounds, redisUrl });
    const conclusion = conclude(RATIOS, rows);
    const close = tooCloseToCall(conclusion);
    const result: BenchResult = {
      schema: 1,
      bench: "stores",
      mode: options.quick ? "quick" : "full",
      startedAt: new Date(startedAtMs).toISOString(),
      seconds: Math.round((Date.now() - startedAtMs) / 1000),
      machine,
      rounds: options.rounds,
      rows,
      ...conclusion,
      verdict: verdictOf(conclusion, TARGETS),
      notes: close.length === 0 ? [] : [`Too close to call in one run: ${close.join(", ")}.`],
    };
    progress.clear();
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(result, null, 2)}\n`);
    process.stdout.write(`${renderReport(result, TITLES)}\n\n${renderLastLine(result)}\n`);
  } finally {
    progress.clear();
    stopAllWorkers();
    await Promise.all(servers.map((server) => server.stop()));
  }
}

async function redisUrl(promise: StoreArm["promise"]): Promise<string | undefined> {
  if (promise !== "everysec" && promise !== "always") return undefined;
  if (!(await redisAvailable())) {
    process.stderr.write("redis-server is not on this machine: its arms are left out\n");
    return undefined;
  }
  const server = await startRedis({ appendfsync: promise });
  servers.push(server);
  return server.url;
}

function readOptions(): Options | undefined {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      rounds: { type: "string" },
      json: { type: "string" },
      "no-build": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const rounds = values.rounds === undefined ? (values.quick ? QUICK_ROUNDS : ROUNDS) : Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 1000) throw new Error("--rounds takes a number from 1 to 1000");
  return { quick: values.quick, rounds, json: values.json, build: !values["no-build"] };
}

try {
  const options = readOptions();
  if (options === undefined) process.stdout.write(`${HELP}\n`);
  else
    await main(options).catch((thrown: unknown) => {
      process.stderr.write(`bench:stores: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
      process.exitCode = 1;
    });
} catch (thrown) {
  process.stderr.write(`${thrown instanceof Error ? thrown.message : String(thrown)}\n\n${HELP}\n`);
  process.exitCode = 2;
}
