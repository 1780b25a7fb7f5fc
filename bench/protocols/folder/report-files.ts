import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type BenchOptions, type BenchProgress, runBench as measure } from "../harness/bench.js";
import { runningHtml } from "../report/running.js";
import type { BenchResult } from "../result/index.js";
import { FILES, FolderError, readManifest, readResult } from "./folder.js";

/** Measures, and keeps the report beside the result: how far it is while it runs, the numbers when it has ended. */
export async function runBench(options: BenchOptions): Promise<BenchResult> {
  let begun = false;
  const onProgress = (progress: BenchProgress): void => {
    begun = true;
    writeRunning(options, progress);
    options.onProgress?.(progress);
  };
  let result: BenchResult;
  try {
    result = await measure({ ...options, onProgress });
  } catch (thrown) {
    // A folder that was refused belongs to somebody else. The error of the measurement is the one to report.
    if (begun) await writeReport(options.folder).catch(() => undefined);
    throw thrown;
  }
  await writeReport(options.folder);
  return result;
}

/** Writes the report of a folder, from its result and manifest. */
export async function writeReport(folder: string): Promise<void> {
  // Drawing is loaded when nothing is measured any more.
  const { reportHtml, reportMarkdown } = await import("../report/index.js");
  const [result, manifest] = [readResult(folder), readManifest(folder)];
  replace(folder, FILES.report, reportHtml(result, manifest));
  replace(folder, FILES.tables, reportMarkdown(result, manifest));
}

/** Between two runs, so that it takes no time from them. */
function writeRunning({ folder, plan }: BenchOptions, { done, current, remainingMs }: BenchProgress): void {
  const result = resultSoFar(folder);
  const ended = result?.runs.filter(({ run }) => run !== current.run) ?? [];
  const html = runningHtml({ plan: result?.plan ?? plan, done, current, remainingMs, ended });
  try {
    replace(folder, FILES.report, html);
  } catch {
    // The page must not end a measurement. A disk that is full ends it with the next event, and says so.
  }
}

/** Undefined before the first run has ended. */
function resultSoFar(folder: string): BenchResult | undefined {
  try {
    return readResult(folder);
  } catch (thrown) {
    if (thrown instanceof FolderError) return undefined;
    throw thrown;
  }
}

/** Replaced as a whole: a browser never loads half of one. */
function replace(folder: string, file: string, text: string): void {
  const path = join(folder, file);
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}
