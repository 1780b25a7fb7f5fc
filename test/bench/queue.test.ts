import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runBench, scenarios, verifyFolder } from "../../bench/protocols/index.js";
import { openProtocols } from "../helpers/open-protocols.js";
import { options, testPlan, withFolder } from "./stage.js";

const LONG = 300_000;
const ENTRIES = { kind: "generated", count: 24, seed: 3 } as const;
const names = (count: number) => Array.from({ length: count }, (_, index) => `agent-${index + 1}`);

describe("a streaming queue", { timeout: LONG }, () => {
  it("is emptied by worker processes, each entry answered once, and gives the same numbers again", () =>
    withFolder(async (folder) => {
      const plan = testPlan({
        scenario: scenarios.streamingQueue,
        protocols: openProtocols.slice(0, 2).map(({ id }) => id),
        controls: false,
        clients: 4,
        agents: [6],
        settings: { agents: 4, requests: ENTRIES.count, dispatch: "queue", payloadBytes: 0 },
      });
      const result = await runBench(options(folder, plan, { entries: ENTRIES }));
      expect(result.plan.primary).toBe("p95Us");
      expect(result.checks).toMatchObject({ witness: { passed: true }, fairness: { passed: true }, replay: { passed: true } });
      expect(result.runs.map(({ condition }) => condition).sort()).toEqual([
        "closed-4",
        "closed-4",
        "closed-4 of 6 agents",
        "closed-4 of 6 agents",
      ]);
      for (const { condition, workers, requests, metrics, edges } of result.runs) {
        expect(requests).toMatchObject({ sent: 24, answered: 24, received: 24, duplicates: 0, retries: 0, networkErrors: 0 });
        expect(workers.map(({ agent }) => agent)).toEqual(names(condition === "closed-4" ? 4 : 6));
        expect(edges).toHaveLength(workers.length);
        expect(workers.reduce((sum, { tasks }) => sum + tasks, 0)).toBe(24);
        // The worker that has been idle longest is first: every one gets some, with four in flight and six of them too.
        expect(workers.every(({ tasks }) => tasks > 0)).toBe(true);
        expect(metrics.adapterMeanUs).toBeGreaterThan(0);
        expect(metrics.balanceVariance).not.toBeNull();
      }
      expect((await verifyFolder(join(folder, "result"))).differences).toEqual([]);
      const others = options(folder, plan, { resume: true, entries: { ...ENTRIES, seed: 4 } });
      await expect(runBench(others)).rejects.toThrow("was measured with other entries");
    }));

  it("counts an entry that waits in the queue from its intended start, and one that waits too long as the timeout", () =>
    withFolder(async (folder) => {
      // One worker, 600 ms for each on average, and twelve entries at once: the last cannot be answered within two seconds.
      const plan = testPlan({
        scenario: scenarios.streamingQueue,
        controls: false,
        rates: [10_000],
        settings: { agents: 1, requests: 12, dispatch: "queue", payloadBytes: 0, model: "scripted", messageTimeoutMs: 2_000 },
      });
      const model = { kind: "scripted", seed: 1, meanMs: 600 } as const;
      const [run] = (await runBench(options(folder, plan, { entries: { ...ENTRIES, count: 12 }, model }))).runs;
      expect(run).toMatchObject({ status: "complete", invalid: [] });
      expect(run?.requests.timeout).toBeGreaterThan(0);
      expect((run?.requests.answered ?? 0) + (run?.requests.timeout ?? 0)).toBe(12);
      expect(run?.errors).toHaveProperty("waited in the queue until its timeout");
      expect(run?.metrics.maxUs).toBeGreaterThanOrEqual(2_000_000);
    }));
});
