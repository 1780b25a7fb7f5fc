import { expect, it } from "vitest";
import { crossModelTable } from "./cross-model.js";
import { accuracyTable, levelsTable } from "./router-accuracy.js";
import { executionTable } from "./router-execution.js";
import { statusOf } from "./suite.js";
import { paperTables } from "./tables.js";

const CHOICE = {
  ...({ suite: "paper", mode: "full", protocols: null, seed: 1, runs: null, parts: null } as const),
  ...{ timeScale: 20, parameters: { service: 9.6 }, scaled: ["service"] },
};

it("has every table of the paper, and says what is not measured", () => {
  const tables = paperTables({ benches: new Map(), safety: undefined, accuracy: undefined }, { choice: CHOICE });
  expect([...new Set(tables.map(({ number }) => number.replace(/, .*/, "")))]).toEqual([
    "1",
    "2",
    "3a",
    "3b",
    "3c",
    "3d",
    "4",
    "5",
    "6",
    "7",
    "8",
    "9",
    "10",
    "11",
    "12",
  ]);
  expect(tables.filter(({ table }) => table !== undefined).map(({ number }) => number)).toEqual(["1", "2", "12"]);
  for (const { table, parts } of tables) expect(table === undefined).toBe(parts.length > 0);
});

it("is as good as its worst part", () => {
  const part = (status: "complete" | "partial" | "invalid" | null) => ({
    name: "a",
    scenario: "a",
    status,
    seconds: 1,
    problem: null,
  });
  expect(statusOf({ parts: [part("complete")] })).toBe("complete");
  expect(statusOf({ parts: [part("complete"), part(null)] })).toBe("partial");
  expect(statusOf({ parts: [part("partial"), part("invalid")] })).toBe("invalid");
});

const share = (hits: number, of: number) => ({ value: hits / of, of });
const accuracy = (a: number, b: number) => ({ scenarios: share(a, 12), modules: share(b, 24) });
const run = (name: string, a: number, b: number) => ({
  name,
  metrics: { ...accuracy(a, b), macroF1: 0.5, levels: [{ part: 2, ...accuracy(a, b) }] },
});
const REPORT = {
  settings: { ranking: ["ACP", "A2A"] },
  inputs: [{ name: "own.jsonl", scenarios: 12, modules: 24 }],
  runs: [run("spec", 6, 18), run("spec+perf", 9, 21)],
};

it("shows the accuracy of the router in the layout of table 6, with the priors that acted", () => {
  const { rows, note } = accuracyTable(REPORT);
  // The paper's L2: 0.500 and 0.583 of the scenarios, 0.708 and 0.750 of the modules.
  expect(rows[1]).toEqual(["L2 (12 scen / 24 mods)", "0.500", "0.500", "0.750", "0.583", "0.750", "0.708", "0.875", "0.750"]);
  expect(rows.at(-1)?.slice(5)).toEqual(["0.500", "0.721", "0.500", "0.824"]);
  expect(note).toContain("ACP, A2A, the best first");
  expect(levelsTable(REPORT).rows).toEqual([
    ["L2", "12", "12", "2", "24", "24"],
    ["Total", "12", "60", "–", "24", "180"],
  ]);
});

it("has no table of models with one model, and none of the router without a plan", () => {
  const plan = {
    scenario: "streaming-queue",
    primary: "p95Us",
    arms: [],
    conditions: [{ id: "closed-4", load: { loop: "closed", clients: 4 }, faults: [] }],
  };
  const result = { plan, arms: [], runs: [], comparisons: [] } as never;
  expect(crossModelTable(result, 20)).toBeUndefined();
  expect(executionTable([result, undefined], undefined)).toBeUndefined();
});

it("shows each protocol with each model, the paper's figures beside it, and the order", () => {
  const arm = (id: string) => ({ id, protocol: id, implementation: "koine", features: "envelope" });
  const condition = (id: string, serviceMs?: number) => ({
    ...{ id, load: { loop: "closed", clients: 4 }, faults: [] },
    ...(serviceMs === undefined ? {} : { serviceMs }),
  });
  const measured = (id: string, at: string, meanUs: number, adapterMeanUs: number) => ({
    ...{ arm: id, condition: at },
    metrics: { meanUs: { mean: meanUs }, adapterMeanUs: { mean: adapterMeanUs } },
  });
  const result = {
    plan: {
      scenario: "streaming-queue",
      primary: "p95Us",
      arms: [arm("a2a"), arm("acp")],
      conditions: [condition("one"), condition("two", 5)],
    },
    arms: [
      measured("a2a", "one", 21_000, 200),
      measured("acp", "one", 20_500, 300),
      measured("a2a", "two", 6_000, 210),
      measured("acp", "two", 7_000, 310),
    ],
    ...{ runs: [], comparisons: [] },
  } as never;
  const { head, rows } = crossModelTable(result, 20) ?? { head: [], rows: [] };
  expect(head.slice(0, 4)).toEqual([
    "Protocol",
    "model of 20.0 ms: mean latency (ms)",
    "adapter (ms)",
    "paper: Qwen2.5-VL-72B (ms)",
  ]);
  expect(rows).toEqual([
    ["a2a", "21.0", "0.200", "1.223", "6.00", "0.210", "1.057", "2 1", "1 1"],
    ["acp", "20.5", "0.300", "0.148", "7.00", "0.310", "0.108", "1 2", "2 2"],
  ]);
});
