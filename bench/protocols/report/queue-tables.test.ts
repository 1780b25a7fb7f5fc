import { describe, expect, it } from "vitest";
import { sampleEvents } from "../../../test/helpers/bench-events.js";
import { type BenchEvent, summarise } from "../result/index.js";
import { reportMarkdown } from "./markdown.js";
import { coordinatorTable, modelTable, queueTable, scaleTable, workerTable } from "./queue-tables.js";
import { conditionViews } from "./view.js";

/** Two workers of a queue; block 1 is measured again with eight of them. */
function queueEvents(workers: number): BenchEvent[] {
  const [first, ...rest] = sampleEvents();
  if (first?.type !== "plan") throw new Error("no plan");
  const { plan } = first;
  const agents = Array.from({ length: workers }, (_, index) => `agent-${index + 1}`);
  const [closed] = plan.conditions;
  if (closed === undefined) throw new Error("no condition");
  return [
    {
      type: "plan",
      plan: {
        ...plan,
        scenario: "streaming-queue",
        primary: "p95Us",
        settings: { ...plan.settings, dispatch: "queue", agents: workers },
        conditions: [closed, { ...closed, id: "of eight", agents: 8 }],
        runs: plan.runs.map((run) => (run.block === 1 ? { ...run, condition: "of eight" } : run)),
      },
    },
    ...rest.map((event): BenchEvent => (event.type === "process-started" ? { ...event, agents } : event)),
  ];
}

describe("tables of a queue", () => {
  it("has the paper's columns, what each worker did, and adapter times by number of workers", () => {
    const views = conditionViews(summarise(queueEvents(2)));
    const [view] = views;
    if (view === undefined) throw new Error("no view");
    const { head, rows } = queueTable(view);
    const row = Object.fromEntries(head.map((name, column) => [name, rows[0]?.[column]]));
    // Ten entries of 1,000 to 1,009 µs in 2 s, all by the first worker: the variance of 10 and 0 is 50.
    expect(row).toMatchObject({
      arm: "one",
      "duration (s)": "2.00",
      "mean latency (ms)": "1.00",
      "load-balance variance": "50.0",
      answered: "10 of 10",
      dropped: "0",
      "network errors": "0",
      retries: "0",
      timeouts: "0",
    });
    expect(workerTable(view)?.rows.map((cells) => cells.slice(0, 3))).toEqual([
      ["one", "agent-1", "10.0"],
      ["one", "agent-2", "0.000"],
    ]);
    expect(scaleTable(views, 2)).toMatchObject({ head: ["arm", "2 agents", "8 agents"], rows: [["one", "0.275", "0.275"]] });
  });

  it("says what killing the coordinator did, run by run", () => {
    const [view] = conditionViews(summarise(queueEvents(2)));
    const [arm] = view?.arms ?? [];
    const [run] = arm?.runs ?? [];
    if (view === undefined || arm === undefined || run === undefined) throw new Error("no run");
    const coordinator = { answeredBefore: 4, downUs: 120_000, firstAnswerUs: 30_000, sentAgain: 2 };
    const killed = { ...view, arms: [{ ...arm, runs: [{ ...run, coordinator }] }] };
    expect(coordinatorTable(killed)?.rows).toEqual([["one", run.run, "4", "120", "30.0", "2", "0", "10 of 10"]]);
    expect(coordinatorTable(view)).toBeUndefined();
  });

  it("lists neither a single worker nor hundreds, and compares no single number of workers", () => {
    const [one] = conditionViews(summarise(queueEvents(1)));
    const [many] = conditionViews(summarise(queueEvents(33)));
    if (one === undefined || many === undefined) throw new Error("no view");
    expect([workerTable(one), workerTable(many), scaleTable([one], 1), scaleTable([], 1)]).toEqual(Array(4).fill(undefined));
  });

  it("has a column for each scripted model, and the place of each arm with it", () => {
    const [view] = conditionViews(summarise(queueEvents(2)));
    if (view === undefined) throw new Error("no view");
    const slow = { ...view, condition: { ...view.condition, id: "slow", serviceMs: 80 } };
    expect(modelTable([view, slow])).toMatchObject({
      head: ["arm", "first model", "model of 80 ms", "order"],
      rows: [["one", "1.00", "1.00", "1 1"]],
    });
    expect(modelTable([view])).toBeUndefined();
  });

  it("are in the report of a queue, and in no other", () => {
    const report = reportMarkdown(summarise(queueEvents(2)));
    for (const title of ["### The queue", "### The workers", "### More workers"]) expect(report).toContain(title);
    expect(report).not.toContain("### Latency under load");
    expect(reportMarkdown(summarise(sampleEvents()))).not.toContain("### The queue");
  });
});
