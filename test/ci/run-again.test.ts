import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { failedFiles, merged, runAgain, type TestReport } from "../../tools/run-again.mjs";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "koine-again-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** A report of files with the states of their tests. A file without tests could not be loaded. */
function reportOf(files: Readonly<Record<string, readonly string[]>>): TestReport {
  const all = Object.values(files).flat();
  const count = (wanted: string): number => all.filter((status) => status === wanted).length;
  const testResults = Object.entries(files).map(([name, statuses]) => ({
    name: resolve(name),
    status: statuses.length === 0 || statuses.includes("failed") ? "failed" : "passed",
    message: statuses.length === 0 ? "no such module\n  at line 1" : "",
    assertionResults: statuses.map((status, index) => ({
      fullName: `test ${index}`,
      status,
      failureMessages: status === "failed" ? ["Error: 1 is not 2\n  at line 7"] : [],
    })),
  }));
  return {
    success: testResults.every(({ status }) => status === "passed"),
    numPassedTests: count("passed"),
    numFailedTests: count("failed"),
    numPendingTests: count("skipped"),
    testResults,
  };
}

const FIRST = reportOf({ "a.test.ts": ["passed", "failed"], "b.test.ts": ["passed", "skipped"], "c.test.ts": [] });

/** What `runAgain` writes and says if the second run has this report. */
function again(second: TestReport | undefined): { readonly report: TestReport; readonly said: string; readonly args: string[] } {
  const file = join(folder, "report.json");
  writeFileSync(file, JSON.stringify(FIRST));
  const lines: string[] = [];
  const args: string[] = [];
  runAgain(
    file,
    (more) => {
      args.push(...more);
      if (second !== undefined) writeFileSync(file, JSON.stringify(second));
    },
    (line) => void lines.push(line),
  );
  return { report: JSON.parse(readFileSync(file, "utf8")) as TestReport, said: lines.join("\n"), args };
}

test("names the failed files with their first error, and those that could not be loaded", () => {
  expect(failedFiles(FIRST)).toEqual([
    { name: resolve("a.test.ts"), error: "test 1: Error: 1 is not 2" },
    { name: resolve("c.test.ts"), error: "no such module" },
  ]);
});

test("files that pass alone are called flaky and count as passed; a skipped test stays one", () => {
  const { report, said, args } = again(reportOf({ "a.test.ts": ["passed", "passed"], "c.test.ts": ["passed"] }));
  expect(args.slice(0, 3)).toEqual(["a.test.ts", "c.test.ts", "--no-file-parallelism"]);
  expect(said).toContain("FLAKY, passed alone: a.test.ts: test 1: Error: 1 is not 2");
  expect(said).toContain("FLAKY, passed alone: c.test.ts: no such module");
  expect([report.success, report.numPassedTests, report.numFailedTests, report.numPendingTests]).toEqual([true, 4, 0, 1]);
});

test("a file that fails again is failed, and so is one that the second run left out", () => {
  const { report, said } = again(reportOf({ "a.test.ts": ["passed", "failed"] }));
  expect(said).toContain("FAILED TWICE: a.test.ts");
  expect(said).toContain("FAILED TWICE: c.test.ts");
  expect([report.success, report.numPassedTests, report.numFailedTests]).toEqual([false, 2, 1]);
});

test("without a second report the first one stands", () => {
  expect(again(undefined).report).toEqual(FIRST);
});

test("an error of the second run beside its tests is a failure", () => {
  const passed = { ...reportOf({ "a.test.ts": ["passed", "passed"], "c.test.ts": ["passed"] }), success: false };
  expect(merged(FIRST, passed).success).toBe(false);
});

test("nothing runs if nothing failed, or more than a coincidence would explain", () => {
  const file = join(folder, "other.json");
  const ran: string[] = [];
  const run = (args: readonly string[]): void => void ran.push(...args);
  writeFileSync(file, JSON.stringify(reportOf({ "b.test.ts": ["passed"] })));
  runAgain(file, run, () => undefined);
  writeFileSync(
    file,
    JSON.stringify(reportOf(Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`${i}.test.ts`, ["failed"]])))),
  );
  runAgain(file, run, () => undefined);
  runAgain(join(folder, "none.json"), run, () => undefined);
  expect(ran).toEqual([]);
});
