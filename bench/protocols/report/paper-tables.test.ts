import { expect, it } from "vitest";
import { inventedResult } from "../../../test/helpers/bench-result.js";
import { PAPER_QUEUE } from "./paper-queue.js";
import { paperPanels } from "./paper-tables.js";
import { conditionViews } from "./view.js";

const PROTOCOLS = ["a2a", "acp", "anp", "agora", "another"];
const result = inventedResult({
  arms: PROTOCOLS.map((id, index) => ({ id, addedUs: 300 + 100 * index })),
  runs: 6,
  requests: 12,
});
const panels = new Map(paperPanels(conditionViews(result), 4).map(({ title, table }) => [title, table]));

function row(title: string, name: string): Readonly<Record<string, string>> {
  const table = panels.get(title);
  const cells = table?.rows.find(([first]) => first === name) ?? [];
  // The paper's columns have one name; they are told apart by what they stand beside.
  return Object.fromEntries(cells.map((cell, column) => [`${column} ${table?.head[column]}`, cell]));
}

it("puts the paper's figures beside ours, in its units, and none where it has none", () => {
  expect([...panels.keys()]).toEqual(["Table 3c", "Table 4", "Table 5", "Table 10"]);
  expect(row("Table 3c", "acp")).toMatchObject({
    "2 paper": "40.28",
    "4 paper": "9.663",
    "6 paper": "6.88",
    "8 paper": "14.24",
    "10 paper": "1.08",
  });
  // Requests of the sample take 1,000 µs and what the arm adds: 1.4 ms, and a tail.
  expect(row("Table 3c", "acp")["3 Mean (s)"]).toBe("0.002");
  expect(row("Table 3c", "another")["2 paper"]).toBe("–");
  expect(row("Table 4", "agora")).toMatchObject({ "2 paper": "13.135", "4 paper": "[12.819, 13.444]", "6 paper": "5.09" });
  expect(row("Table 5", "anp")).toMatchObject({ "2 paper": "1.6", "3 8 agents": "–", "4 paper": "3.1", "8 paper": "14.1" });
  expect(row("Table 5", "anp")["1 4 agents"]).toMatch(/^0\.\d+$/);
});

it("says of a number of agents that share processes how many those are", () => {
  const [view] = conditionViews(result);
  if (view === undefined) throw new Error("no view");
  const larger = [32, 256].map((agents) => ({ ...view, condition: { ...view.condition, agents } }));
  const table = paperPanels([view, ...larger], 4).find(({ id }) => id === "paper-5")?.table;
  expect(table?.head.filter((name) => name !== "paper")).toEqual([
    "Protocol",
    "4 agents",
    "8 agents",
    "16 agents",
    "32 agents",
    "256 agents in 8 processes",
  ]);
  const cells = table?.rows.find(([name]) => name === "agora") ?? [];
  expect([cells[2], cells[8], cells[10]]).toEqual(["4", "33.6", "–"]);
  expect(cells[9]).toMatch(/^0\.\d+$/);
});

it("has every pair, the paper's turned round where ours is", () => {
  const pairs = panels.get("Table 10")?.rows ?? [];
  expect(pairs).toHaveLength((PROTOCOLS.length * (PROTOCOLS.length - 1)) / 2);
  expect(row("Table 10", "a2a − acp")).toMatchObject({ "2 paper": "0.035", "4 paper": "0.03", "6 paper": "0.47" });
  expect(row("Table 10", "acp − agora")).toMatchObject({ "2 paper": "-3.472", "4 paper": "-0.94", "6 paper": "< 0.0001" });
  expect(row("Table 10", "anp − agora")["2 paper"]).toBe("–");
});

it("states what the paper states: duration is the mean times a thousand over four", () => {
  // Within 0.5 %, as the dossier of the paper's numbers found.
  for (const { durationMin, mean } of Object.values(PAPER_QUEUE))
    expect(Math.abs((durationMin * 60) / ((1_000 * mean) / 4) - 1)).toBeLessThan(0.005);
});

it("has none in an open loop", () => {
  const load = { loop: "open", perSecond: 100, arrivals: "poisson", inFlight: 256 } as const;
  const open = conditionViews(result).map((view) => ({ ...view, condition: { ...view.condition, load } }));
  expect(paperPanels(open, 4)).toEqual([]);
});

it("has no figure of a protocol beside the router's arm, whatever protocol that is", () => {
  const views = conditionViews(result).map((view) => ({
    ...view,
    arms: view.arms.map((each) => (each.arm.id === "acp" ? { ...each, arm: { ...each.arm, id: "router" } } : each)),
  }));
  const [table3c] = paperPanels(views, 4).map(({ table }) => table);
  const cells = table3c?.rows.find(([name]) => name === "router") ?? [];
  expect(cells.filter((_cell, column) => table3c?.head[column] === "paper")).toEqual(["–", "–", "–", "–", "–"]);
});
