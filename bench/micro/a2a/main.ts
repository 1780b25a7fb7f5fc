import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildIfStale, emitBench } from "../../harness/emit.js";
import { findCores, stopAllWorkers, stopWorkersOnExit } from "../../harness/processes.js";
import { createProgress } from "../../harness/progress.js";
import { renderLastLine, renderReport } from "../../harness/report.js";
import { HELP, type Options, parseOptions } from "./options.js";
import { runBench } from "./run.js";
import { TITLES } from "./titles.js";

/** `npm run bench:a2a`. Exit codes: 0 measured, whatever came out; 1 could not measure; 2 usage. */

const root = fileURLToPath(new URL("../../../", import.meta.url));

async function main(options: Options): Promise<void> {
  const startedAtMs = performance.timeOrigin;
  stopWorkersOnExit();
  if (options.build && options.arms.has("koine")) buildIfStale(root);
  emitBench(root);
  const progress = createProgress(process.stderr);
  try {
    const result = await runBench(options, { dist: join(root, "dist"), cores: findCores(), progress, startedAtMs });
    progress.clear();
    if (options.json !== undefined) writeFileSync(options.json, `${JSON.stringify(result, null, 2)}\n`);
    process.stdout.write(`${renderReport(result, TITLES)}\n\n${renderLastLine(result)}\n`);
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
    process.stderr.write(`bench:a2a: ${thrown instanceof Error ? thrown.message : String(thrown)}\n`);
    process.exitCode = 1;
  });
}
