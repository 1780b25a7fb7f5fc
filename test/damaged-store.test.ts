import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openSqliteStore } from "../src/index.js";
import type { DamageFacts, DamageReport } from "./damage/reader.js";
import { OWNER, start } from "./helpers/stores/contract-samples.js";
import { compiled } from "./programs.js";

/** Pages of a real store file are overwritten at random places. Nothing aborts, and what is intact is served. */

const TASKS = 200;
const SEEDS = 60;
const folder = mkdtempSync(join(tmpdir(), "koine-damaged-"));
const file = join(folder, "tasks.db");
const taskIds = Array.from({ length: TASKS }, (_, index) => `task-${index}`);

beforeAll(async () => {
  const store = await openSqliteStore({ file, now: () => 1_000_000 });
  for (const taskId of taskIds) {
    const made = start(taskId);
    const [first] = made.task.history;
    if (first === undefined) throw new Error("a task begins with a message");
    const history = [{ ...first, content: [{ kind: "text" as const, text: `${taskId} ${"ü".repeat(300)}` }] }];
    await store.create({ ...made, task: { ...made.task, history } });
    await store.records.put(`record/${taskId}`, { text: "é".repeat(50) });
  }
  await store.close?.();
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Damages copies in a process of its own, and returns what was found in them. */
function damaged(places: number): readonly DamageReport[] {
  const seeds = Array.from({ length: SEEDS }, (_, index) => index + 1);
  const facts: DamageFacts = { file, owner: OWNER, taskIds, seeds, places };
  const child = spawnSync(process.execPath, [compiled("test/damage/reader.ts"), JSON.stringify(facts)], { encoding: "utf8" });
  expect({ status: child.status, signal: child.signal, stderr: child.stderr }).toEqual({ status: 0, signal: null, stderr: "" });
  const lines = child.stdout.trim().split("\n");
  return lines.map((line) => JSON.parse(line) as DamageReport); // the output of reader.ts
}

function codesOf(reports: readonly DamageReport[]): readonly string[] {
  return [...new Set(reports.flatMap(({ codes, opening }) => (opening === undefined ? codes : [...codes, opening])))];
}

test("a damaged record is an error of that record, and the others are served", () => {
  const reports = damaged(3);
  expect(codesOf(reports)).toEqual(["internal"]);
  const opened = reports.filter(({ opening }) => opening === undefined);
  const intact = opened.reduce((sum, report) => sum + report.intact, 0);
  expect(intact).toBeLessThan(opened.length * TASKS);
  // A few copies are damaged in a page that leads to many tasks.
  expect(intact).toBeGreaterThan(opened.length * TASKS * 0.8);
}, 60_000);

test("nothing aborts, however much is damaged", () => {
  const codes = codesOf(damaged(60));
  expect(codes).toContain("internal");
  // SQLite reports some damage as a read that failed.
  expect(codes.filter((code) => code !== "internal" && code !== "unavailable")).toEqual([]);
}, 60_000);
