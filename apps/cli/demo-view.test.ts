import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import type { AgentRow } from "../demo/index.js";
import { agentTable, figureLine } from "./demo-view.js";
import { createOutput } from "./output.js";

const ROW: AgentRow = {
  id: "berths",
  protocol: "A2A",
  way: "a2a@0.3/JSONRPC",
  url: "http://127.0.0.1:7402",
  health: "up",
  pid: 4711,
  restarts: 1,
  problem: undefined,
  messages: 12,
  failures: 1,
  p50: 6,
  p95: 31,
  last: "28 metres",
};
const MISSING: AgentRow = {
  ...ROW,
  id: "customs",
  protocol: "ANP",
  way: "",
  health: "missing",
  pid: undefined,
  restarts: 0,
  messages: 0,
  failures: 0,
  p50: undefined,
  p95: undefined,
  problem: "ANP is not registered here",
};

function table(rows: readonly AgentRow[], columns: number): readonly string[] {
  const stderr = Object.assign(new PassThrough(), { isTTY: true, columns });
  const lines = agentTable(rows, createOutput("text", { stdout: new PassThrough(), stderr }));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are not under test
  return lines.map((line) => line.replace(/\u001b\[[0-9;]*m/g, ""));
}

describe("the table of the demo", () => {
  it("has a line for every agent, and the reason for a missing one", () => {
    expect(table([ROW, MISSING], 120)).toEqual([
      "agent    speaks           health            pid  msgs  failed  p50 ms  p95 ms  last message",
      "berths   a2a@0.3/JSONRPC  up (restarts 1)  4711    12       1       6      31  28 metres",
      "customs  ANP              missing             –     –       –       –       –  ANP is not registered here",
    ]);
  });

  it("is never wider than the terminal, and has no control characters", () => {
    const lines = table([{ ...ROW, last: `\u001b[2J${"x".repeat(200)}` }], 60);
    expect(lines).toHaveLength(2);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(60);
    expect(lines.join("")).not.toContain("\u001b");
  });

  it("is one line per agent where there is no terminal", () => {
    expect(figureLine(ROW)).toBe(
      "berths up (restarts 1) · a2a@0.3/JSONRPC · messages 12 · failed 1 · p50 6 ms · p95 31 ms · 28 metres",
    );
    expect(figureLine(MISSING)).toBe("customs missing · ANP · ANP is not registered here");
  });
});
