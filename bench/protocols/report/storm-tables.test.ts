import { expect, it } from "vitest";
import type { Cycle } from "../result/storm-schema.js";
import { stormChart } from "./storm-chart.js";
import { lossTable, problemTable, recoveryTable, splitTable } from "./storm-tables.js";
import type { ConditionView } from "./view.js";

const WINDOW = { seconds: 60, truncated: false, ended: 100, right: 80, meanUs: 40_000, medianUs: 30_000 };
const VICTIM: Cycle["victims"][number] = {
  victim: "agent-2",
  recoveryUs: 2_600_000,
  downUs: 2_000_000,
  startUs: 400_000,
  rejoinUs: 50_000,
  workUs: 150_000,
  usefulUs: 200_000,
  detections: [{ by: "agent-1", us: 12_000, seenBy: "connection" }],
  restored: { source: "journal", fragments: 16, bytes: 1_000, us: 3_000 },
  reconnect: { connections: 3, sent: 400, received: 600 },
};
const CYCLE: Cycle = {
  atS: 60,
  kind: "kill",
  victims: [VICTIM, { ...VICTIM, usefulUs: 300_000, detections: [] }],
  recoveryUs: 2_600_000,
  detectUs: 12_000,
  usefulUs: 300_000,
  resolutionUs: 5_000,
  during: WINDOW,
  paper: { pre: WINDOW, post: { ...WINDOW, right: 60 } },
  appendix: { pre: WINDOW, post: WINDOW },
  retention: 0.75,
  countRetention: 0.75,
  appendixRetention: 1,
  missed: 12,
};
const STORM = {
  cycles: [CYCLE],
  lost: 1,
  doubled: 0,
  discarded: 3,
  repeated: 2,
  executedAgain: 1,
  localShare: 0.125,
  rightShare: 0.9,
  timeline: [],
};
const RUN = {
  storm: { ...STORM, timeline: [0, 1, 2].map((second) => ({ second, right: 9, other: 1 })) },
  requests: { sent: 500 },
};
// The parts that the tables read.
const VIEW = { arms: [{ arm: { id: "one" }, runs: [RUN] }] } as unknown as ConditionView;

const rowOf = ({ head, rows }: ReturnType<typeof recoveryTable>) =>
  Object.fromEntries(head.map((name, column) => [name, rows[0]?.[column]]));

it("prints the paper's columns, with its own rows below", () => {
  const table = recoveryTable(VIEW);
  expect(rowOf(table)).toMatchObject({
    arm: "one",
    "right before (%)": "80.0",
    "right after (%)": "60.0",
    "drop (points)": "20.0",
    "retention (%)": "75.0",
    "recovery (s)": "2.60",
    recovered: "1 of 1",
  });
  // 14.57 of 14.74.
  expect(table.rows.find(([name]) => name === "paper: A2A")?.[4]).toBe("98.8");
});

it("prints the parts of a recovery, and what was lost", () => {
  expect(rowOf(splitTable(VIEW))).toMatchObject({
    noticed: "12.0",
    down: "2,000",
    start: "400",
    "listening to first work": "250",
    largest: "300",
    "noticed by": "connection 1",
  });
  expect(rowOf(lossTable(VIEW))).toMatchObject({
    questions: "500",
    lost: "1",
    doubled: "0",
    "asked again": "2",
    "answered again": "1",
    "reconnect bytes": "1,000",
    "local share (%)": "12.5",
  });
  expect(problemTable().rows.every((row) => row.length === 3)).toBe(true);
});

it("draws a mark for every fault and for every recovery", () => {
  const svg = stormChart(VIEW);
  expect(svg).toContain('aria-label="Right answers per second');
  expect(svg).toContain("4 3");
});
