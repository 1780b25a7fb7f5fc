import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { renderLastLine, renderReport } from "./report.js";
import type { BenchResult } from "./result.js";

const TITLES = { server: "Server alone, raw sockets, 16 connections" };

// A file of schema 1, as an earlier run would have left it.
const result = JSON.parse(readFileSync(new URL("./fixtures/result-1.json", import.meta.url), "utf8")) as BenchResult;

describe("renderReport()", () => {
  test("shows medians and spread of each arm, the ratios with their targets, and the verdict", () => {
    expect(renderReport(result, TITLES)).toBe(
      [
        "Server alone, raw sockets, 16 connections · 2 rounds, medians",
        "arm              per s        [p10, p90]  p50 µs  p95 µs  p99 µs  std/mean  cpu µs",
        "──────────────  ──────  ────────────────  ──────  ──────  ──────  ────────  ──────",
        "floor           31,000  [30,000, 32,000]     490     695     905     0.210    27.5",
        "koine json-rpc  25,870  [25,500, 26,240]     595     795     985     0.290    33.5",
        "",
        "ratio (median of rounds)                  [p10, p90]  95 % of median  target",
        "─────────────────────────────  ─────  ──────────────  ──────────────  ──────  ───",
        "unary_jsonrpc_server_vs_floor  0.835  [0.820, 0.850]                   ≥ 0.8  met",
        "",
        "An invented note.",
        "",
        "verdict: inconclusive",
      ].join("\n"),
    );
  });
});

test("renderReport() says which targets are not decided", () => {
  const key = "unary_jsonrpc_server_vs_floor";
  const shown = (decided: boolean) =>
    renderReport({ ...result, targets: { [key]: { atLeast: 0.8, met: true, decided } } }, TITLES);
  expect(shown(false)).toMatch(/≥ 0\.8 +met, not decided\n/);
  expect(shown(true)).toMatch(/≥ 0\.8 +met\n/);
});

describe("renderLastLine()", () => {
  test("is one line of JSON with the numbers and without the rounds", () => {
    const got = renderLastLine(result);
    expect(got.includes("\n")).toBe(false);
    expect(JSON.parse(got)).toEqual({
      schema: 1,
      bench: "a2a",
      mode: "quick",
      startedAt: "2026-01-02T03:04:05.000Z",
      seconds: 41,
      machine: { node: "v20.20.2", cpu: "invented", cores: 2, pinned: true, loadBefore: 0.25 },
      rounds: 2,
      ratios: { unary_jsonrpc_server_vs_floor: 0.835 },
      spread: { unary_jsonrpc_server_vs_floor: [0.82, 0.85] },
      interval: {},
      targets: { unary_jsonrpc_server_vs_floor: { atLeast: 0.8, met: true } },
      verdict: "inconclusive",
      notes: ["An invented note."],
    });
  });
});
