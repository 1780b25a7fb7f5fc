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
import { concludeCodecs, judgedKeys, titlesFor } from "./ratios.js";
import { runCodecs } from "./run.js";

/** `npm run bench:codecs`. Exit codes: 0 measured, whatever came out; 1 could not measure; 2 usage. */

const HELP = `npm run bench:codecs -- [options]

Measures what every registered protocol costs without a socket. First its codec alone: a message to its text and back,
against JSON.parse and JSON.stringify of the same text. Then both halves around it: the client half writes a message, the
server half reads it, and the answer goes back. Messages of 300 bytes, 1 KB and 100 KB; then messages to each of 4, 32, 256
and 1,024 agents in turn, for which a codec must not take longer: only the address differs. Each protocol has a process of
its own, its arms are interleaved, and times are CPU time. Prints a table and, as last line, one JSON object.

  --quick           only 300 bytes, and fewer rounds; under 50 seconds
  --rounds N        rounds of each section (full: 20; quick: 10, or as many as fit)
  --protocols LIST  only these, by their ids
  --json FILE       write the whole result, every round, to FILE
  --no-build        measure dist/ as it is, even if older than the source
  --help

Only ratios within one run mean anything. A run whose second floor is not within 0.95 to 1.05 of the first is inconclusive.`;

const FULL = { rounds: 20, sizes: ["small", "medium", "large"], sliceMs: 50, warmUpMs: 400, budgetMs: Infinity } as const;
const QUICK = { rounds: 10, sizes: ["small"], sliceMs: 30, warmUpMs: 200, budgetMs: 44_000 } as const;
const root = fileURLToPath(new URL("../../../", import.meta.url));

interface Options {
  readonly quick: boolean;
  readonly rounds: number;
  readonly protocols: readonly string[];
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
    const { rounds, protocols: only } = options;
    const { budgetMs, ...plan } = options.quick ? QUICK : FULL;
    const endAtMs = startedAtMs + budgetMs;
    const { found, rows } = await runCodecs({ ...plan, dist: join(root, "dist"), cores, progress, rounds, only, endAtMs });
    const ids = found.map(({ id }) => id);
    const coded = found.flatMap(({ id, hasCodec }) => (hasCodec ? [id] : []));
    const conclusion = concludeCodecs(ids, rows);
    const close = tooCloseToCall(conclusion);
    const result: BenchResult = {
      schema: 1,
      bench: "codecs",
      mode: options.quick ? "quick" : "full",
      startedAt: new Date(startedAtMs).toISOString(),
      seconds: Math.round((Date.now() - startedAtMs) / 1000),
      machine,
      rounds: rows[0]?.series.length ?? 0,
      rows,
      ...conclusion,
      verdict: verdictOf(conclusion, judgedKeys(coded)),
      notes: close.length === 0 ? [] : [`Too close to call in one run: ${close.join(", ")}.`],
    };
    progress.clear();
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(result, null, 2)}\n`);
    process.stdout.write(`${renderReport(result, titlesFor(ids))}\n\n${renderLastLine(result)}\n`);
  } finally {
    progress.clear();
    stopAllWorkers();
  }
}

function readOptions(): Options | undefined {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      rounds: { type: "string" },
      protocols: { type: "string", default: "" },
      json: { type: "string" },
      "no-build": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const rounds = values.rounds === undefined ? (values.quick ? QUICK : FULL).rounds : Number(values.rounds);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > 1000) throw new Error("--rounds takes a number from 1 to 1000");
  const protocols = values.protocols.split(",").filter((id) => id !== "");
  return { quick: values.quick, rounds, protocols, json: values.json, build: !values["no-build"] };
}

try {
  const options = readOptions();
  if (options === undefined) process.stdout.write(`${HELP}\n`);
  else
    await main(options).catch((thrown: unknown) => {
      process.stderr.write(`bench:codecs: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
      process.exitCode = 1;
    });
} catch (thrown) {
  process.stderr.write(`${thrown instanceof Error ? thrown.message : String(thrown)}\n\n${HELP}\n`);
  process.exitCode = 2;
}
