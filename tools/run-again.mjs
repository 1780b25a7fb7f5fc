// Runs the failed files of a suite once more, alone: `node tools/run-again.mjs REPORT COMMAND…`. A file that passes then is flaky: it
// is named with its first error, and counts as passed. Writes the result of both runs back to REPORT, a JSON report of vitest, and
// the names to REPORT.again.txt.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { relative } from "node:path";
import { pathToFileURL } from "node:url";

/** More failed files than this are no coincidence: they are not run again. */
const MOST_FILES = 20;

/** The files of a report that failed, each with its first error. */
export function failedFiles(report) {
  return report.testResults
    .filter(({ status, assertionResults }) => status === "failed" || assertionResults.some((test) => test.status === "failed"))
    .map(({ name, message, assertionResults }) => {
      const test = assertionResults.find(({ status }) => status === "failed");
      const error = test === undefined ? message : `${test.fullName}: ${test.failureMessages[0] ?? ""}`;
      return { name, error: (error ?? "").trim().split("\n")[0] };
    });
}

/** The report with the results of the second run in the place of the first. A file that the second run lacks stays failed. */
export function merged(first, second) {
  const again = new Map(second.testResults.map((file) => [file.name, file]));
  const wasFailed = new Set(failedFiles(first).map(({ name }) => name));
  const testResults = first.testResults.map((file) => (wasFailed.has(file.name) ? (again.get(file.name) ?? file) : file));
  const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
  const count = (...statuses) => tests.filter(({ status }) => statuses.includes(status)).length;
  const success = failedFiles({ testResults }).length === 0 && second.success;
  return {
    ...first,
    success,
    numPassedTests: count("passed"),
    numFailedTests: count("failed"),
    numPendingTests: count("pending", "skipped", "todo", "disabled"),
    testResults,
  };
}

/** Runs the failed files of a report again by `run`, which gets arguments for vitest, and rewrites the report. */
export function runAgain(file, run, say = console.log) {
  if (!existsSync(file)) return;
  const report = JSON.parse(readFileSync(file, "utf8"));
  const failed = failedFiles(report);
  if (failed.length === 0) return;
  if (failed.length > MOST_FILES) return say(`${failed.length} test files failed: too many to run again`);
  const paths = failed.map(({ name }) => relative(process.cwd(), name));
  say(`\nOnce more, alone: ${paths.join(" ")}`);
  // Both runs write to the same place: the configurations name it.
  rmSync(file);
  run([...paths, "--no-file-parallelism", "--coverage.enabled=false"]);
  const second = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
  if (second === undefined) say("the second run has no report");
  const both = second === undefined ? report : merged(report, second);
  const stillFailed = new Set(failedFiles(both).map(({ name }) => name));
  const lines = failed.map(({ name, error }) => {
    const verdict = stillFailed.has(name) ? "FAILED TWICE" : "FLAKY, passed alone";
    return `*** ${verdict}: ${relative(process.cwd(), name)}: ${error}`;
  });
  say(lines.join("\n"));
  writeFileSync(`${file}.again.txt`, `${lines.join("\n")}\n`);
  writeFileSync(file, JSON.stringify(both));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const [file, program, ...args] = process.argv.slice(2);
  runAgain(file, (more) => spawnSync(program, [...args, "--", ...more], { stdio: "inherit" }));
}
