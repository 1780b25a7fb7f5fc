import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildIfStale, emitBench } from "../../harness/emit.js";
import { findCores, stopAllWorkers, stopWorkersOnExit } from "../../harness/processes.js";
import { createProgress } from "../../harness/progress.js";
import { renderLastLine, renderReport } from "../../harness/report.js";
import { HELP, type Options, parseOptions } from "./options.js";
import { titlesOf } from "./ratios.js";
import { runGateway } from "./run.js";

/** `npm run bench:gateway`. Exit codes: 0 measured, whatever came out; 1 could not measure; 2 usage. */

const root = fileURLToPath(new URL("../../../", import.meta.url));

async function main(options: Options): Promise<void> {
  const startedAtMs = performance.timeOrigin;
  stopWorkersOnExit();
  if (options.build) buildIfStale(root);
  emitBench(root);
  const progress = createProgress(process.stderr);
  try {
    const result = await runGateway(options, { dist: join(root, "dist"), cores: findCores(), progress, startedAtMs });
    progress.clear();
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(result, null, 2)}\n`);
    process.stdout.write(`${renderReport(result, titlesOf(options.pairs))}\n\n${renderLastLine(result)}\n`);
  } finally {
    progress.clear();
    stopAllWorkers();
  }
}

function readOptions(): Options {
  try {
    return parseOptions(process.argv.slice(2));
  } catch (thrown) {
    process.stderr.write(`${thrown instanceof Error ? thrown.message : String(thrown)}\n\n${HELP}\n`);
    return process.exit(2);
  }
}

const options = readOptions();
if (options.help) {
  process.stdout.write(`${HELP}\n`);
} else {
  await main(options).catch((thrown: unknown) => {
    process.stderr.write(`bench:gateway: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
    process.exitCode = 1;
  });
}
