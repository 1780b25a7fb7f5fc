import { join } from "node:path";
import { expect, it } from "vitest";
import { edgeTo, type PlannedFault, readEvents, runBench } from "../../bench/protocols/index.js";
import { options, testPlan, withFolder } from "./stage.js";

const LONG = 300_000;
const AT = { atMs: 200, forMs: 300 } as const;
const FAULTS: readonly PlannedFault[] = [
  { kind: "kill", target: "agent-1", ...AT },
  { kind: "stop", target: "agent-1", ...AT },
  { kind: "listener", target: "agent-1", ...AT },
  { kind: "delay", target: edgeTo("agent-1"), ...AT, delayMs: 20 },
  { kind: "loss", target: edgeTo("agent-1"), ...AT, share: 1 },
  { kind: "partition", target: edgeTo("agent-1"), ...AT },
];

it.each(FAULTS)("injects $kind, verifies it and takes it back", { timeout: LONG }, (fault) =>
  withFolder(async (folder) => {
    const plan = testPlan({
      settings: { measureMs: 2_500, retries: 8, messageTimeoutMs: 20_000 },
      faults: [{ name: fault.kind, planned: [fault] }],
    });
    const faulted = plan.runs.filter(({ condition }) => condition.endsWith(fault.kind)).slice(0, 1);
    const result = await runBench(options(folder, { ...plan, runs: faulted }));
    expect(result.runs[0]).toMatchObject({ status: "complete", reason: null });
    const { events } = await readEvents(join(folder, "result", "events.ndjson"));
    const seen = events.filter((event) => event.type === "fault");
    expect(seen.map(({ kind, step, target }) => [kind, step, target])).toEqual([
      [fault.kind, "begin", fault.target],
      [fault.kind, "end", fault.target],
    ]);
    for (const { ns, verifiedNs = 0 } of seen) expect(verifiedNs).toBeGreaterThanOrEqual(ns);
    const starts = events.filter((event) => event.type === "process-started" && event.process === "agents-1");
    expect(starts).toHaveLength(fault.kind === "kill" ? 2 : 1);
    expect(new Set(starts.map((event) => (event.type === "process-started" ? event.pid : 0))).size).toBe(starts.length);
    // There is an answer after the fault was taken back.
    const back = seen[1]?.verifiedNs ?? Number.POSITIVE_INFINITY;
    const later = events.some((event) => event.type === "request" && event.outcome === "answered" && event.stamps.done > back);
    expect(later).toBe(true);
  }),
);
