import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { readEvents, runBench, scenarios, verifyFolder } from "../../bench/protocols/index.js";
import { namespacesAvailable } from "../helpers/network-namespaces.js";
import { openProtocols } from "../helpers/open-protocols.js";
import { KOINE } from "../programs.js";
import { redisAvailable } from "../redis-server.js";
import { options, testPlan, withFolder } from "./stage.js";

const LONG = 300_000;
const ENTRIES = { kind: "generated", count: 40, seed: 3 } as const;
const hosts = namespacesAvailable() ? { hosts: 2 } : {};

/** One run of a queue with four workers. */
function queuePlan(settings: object, coordinator?: { readonly killAt: number; readonly downForMs: number }) {
  const plan = testPlan({
    scenario: scenarios.streamingQueue,
    protocols: openProtocols.slice(0, 1).map(({ id }) => id),
    controls: false,
    clients: 4,
    settings: { agents: 4, requests: ENTRIES.count, dispatch: "queue", payloadBytes: 0, ...settings },
  });
  return { ...plan, conditions: plan.conditions.map((each) => (coordinator === undefined ? each : { ...each, coordinator })) };
}

describe.skipIf(!(await redisAvailable()))("a coordinator with its queue in Redis", { timeout: LONG }, () => {
  it("is killed in the middle and started again, with workers on another host: every entry is answered once", () =>
    withFolder(async (folder) => {
      const killAt = 15;
      const plan = queuePlan({ queue: "redis", model: "scripted", ...hosts }, { killAt, downForMs: 50 });
      const model = { kind: "scripted", seed: 1, meanMs: 10 } as const;
      const result = await runBench(options(folder, plan, { entries: ENTRIES, model }));
      const [run] = result.runs;
      expect(run).toMatchObject({ status: "complete", reason: null, invalid: [] });
      expect(run?.requests).toMatchObject({ sent: 40, answered: 40, received: 40, failed: 0, timeout: 0 });
      const { events } = await readEvents(join(folder, "result", "events.ndjson"));
      const answered = events.flatMap((event) => (event.type === "request" && event.phase === "measure" ? event.seq : []));
      expect(answered.sort((a, b) => a - b)).toEqual(Array.from({ length: 40 }, (_, seq) => seq));
      const callers = events.flatMap((event) => (event.type === "process-started" && event.process === "caller" ? event : []));
      expect(callers.map(({ restart }) => restart)).toEqual([0, 1]);
      expect(new Set(callers.map(({ pid }) => pid)).size).toBe(2);
      expect(run?.coordinator?.answeredBefore).toBeGreaterThanOrEqual(killAt);
      expect(run?.coordinator?.answeredBefore).toBeLessThan(40);
      expect(run?.coordinator?.downUs).toBeGreaterThanOrEqual(50_000);
      // An entry that was under way is sent again, and no other.
      expect(run?.coordinator?.sentAgain).toBeLessThanOrEqual(4);
      expect(run?.requests.duplicates).toBeLessThanOrEqual(run?.coordinator?.sentAgain ?? 0);
      expect((await verifyFolder(join(folder, "result"))).differences).toEqual([]);
    }));

  it("leaves no Redis when the benchmark is killed", () =>
    withFolder(async (folder) => {
      const where = join(folder, "result");
      const argv = [...KOINE, "bench", "streaming-queue", "--queue", "redis", "--service-ms", "5000", "--out", where];
      const child = spawn(process.execPath, argv, { stdio: "ignore", env: { ...process.env, TMPDIR: folder } });
      const queues = () => readdirSync(folder).filter((name) => name.startsWith("koine-queue-"));
      while (!queues().some((name) => existsSync(join(folder, name, "socket")))) await pause(20);
      expect(commandsWith(folder, "redis-server")).toHaveLength(1);
      child.kill("SIGKILL");
      while (commandsWith(folder, "redis-server").length + queues().length > 0) await pause(20);
      expect(queues()).toEqual([]);
    }));
});

/** Processes of a program whose command line names a folder. */
function commandsWith(folder: string, program: string): readonly string[] {
  return readdirSync("/proc").flatMap((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      return words.startsWith(program) && words.includes(folder) ? [words] : [];
    } catch {
      return [];
    }
  });
}

describe("a frozen topology", { timeout: LONG }, () => {
  it("gives each entry to the worker of its number, however busy the others are", () =>
    withFolder(async (folder) => {
      const model = { kind: "scripted", seed: 1, meanMs: 5 } as const;
      const plan = queuePlan({ freeze: ["topology"], model: "scripted" });
      const { runs, checks } = await runBench(options(folder, plan, { entries: ENTRIES, model }));
      expect(checks.fairness.passed).toBe(true);
      expect(runs[0]?.workers.map(({ tasks }) => tasks)).toEqual([10, 10, 10, 10]);
      const { events } = await readEvents(join(folder, "result", "events.ndjson"));
      for (const event of events)
        if (event.type === "request") expect(`${event.seq} ${event.to}`).toBe(`${event.seq} agent-${(event.seq % 4) + 1}`);
    }));
});
