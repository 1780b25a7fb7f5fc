import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { readEvents, readResult, runBench, verifyFolder } from "../../../bench/protocols/index.js";
import { isAlive, options, testPlan, withFolder } from "../../bench/stage.js";
import { namespacesAvailable } from "../../helpers/network-namespaces.js";
import { openProtocols } from "../../helpers/open-protocols.js";
import { KOINE } from "../../programs.js";

const LONG = 300_000;
const here = namespacesAvailable();

/** The network namespace of a process. */
function namespaceOf(pid: number | "self"): string {
  return readlinkSync(`/proc/${pid}/ns/net`);
}

/** The namespaces that some process is in. */
function namespaces(): ReadonlySet<string> {
  const found = new Set<string>();
  for (const name of readdirSync("/proc"))
    try {
      if (/^\d+$/.test(name) && isAlive(Number(name))) found.add(namespaceOf(Number(name)));
    } catch {
      // It has ended meanwhile.
    }
  return found;
}

function pidsIn(folder: string): readonly number[] {
  try {
    return [...readFileSync(join(folder, "events.ndjson"), "utf8").matchAll(/"pid":(\d+)/g)].map((match) => Number(match[1]));
  } catch {
    return [];
  }
}

function command(folder: string, ...args: readonly string[]): ChildProcess {
  const argv = [...KOINE, "bench", "echo", "--hosts", "3", "--agents", "2", "--runs", "1", "--out", folder, ...args];
  return spawn(process.execPath, argv, { stdio: "ignore" });
}

describe.skipIf(!here)("agents on hosts of their own", { timeout: LONG }, () => {
  it("answer over the wire between the hosts, and are killed, cut off and started again there", () =>
    withFolder(async (folder) => {
      const at = { atMs: 100, forMs: 100 } as const;
      const plan = testPlan({
        protocols: openProtocols.slice(0, 1).map(({ id }) => id),
        controls: false,
        settings: { hosts: 3, agents: 2, retries: 8, measureMs: 1_500 },
        faults: [
          {
            name: "kill",
            planned: [
              { kind: "kill", target: "agent-1", ...at },
              { kind: "listener", target: "agent-2", ...at },
            ],
          },
        ],
      });
      const result = await runBench(options(folder, plan));
      expect(result.runs.map(({ status, reason, invalid }) => ({ status, reason, invalid }))).toEqual([
        { status: "complete", reason: null, invalid: [] },
        { status: "complete", reason: null, invalid: [] },
      ]);
      const { events } = await readEvents(join(folder, "result", "events.ndjson"));
      const faults = events.filter((event) => event.type === "fault").map(({ kind, step }) => `${kind} ${step}`);
      expect(faults.sort()).toEqual(["kill begin", "kill end", "listener begin", "listener end"]);
      expect((await verifyFolder(join(folder, "result"))).differences).toEqual([]);
    }));

  it("leave no namespace when the benchmark is killed", () =>
    withFolder(async (folder) => {
      const where = join(folder, "result");
      const child = command(where, "--requests", "1000000", "--measure", "60");
      while (pidsIn(where).length < 3) await pause(20);
      const made = new Set(pidsIn(where).map(namespaceOf));
      // The caller's and one for each agent, and none of them is ours.
      expect(made.size).toBe(3);
      expect(made).not.toContain(namespaceOf("self"));
      child.kill("SIGKILL");
      while ([...namespaces()].some((each) => made.has(each))) await pause(20);
      expect(readResult(where).status).toBe("partial");
    }));

  it("are measured by the command, whose times are seconds", () =>
    withFolder(async (folder) => {
      const where = join(folder, "result");
      const [first] = openProtocols;
      const child = command(where, "--requests", "5", "--warm-up", "0.1", "--measure", "20", "--protocols", first?.id ?? "");
      await new Promise((resolve) => child.once("close", resolve));
      const { plan, runs } = readResult(where);
      expect(plan.settings).toMatchObject({ warmUpMs: 100, measureMs: 20_000, hosts: 3 });
      expect(runs.map(({ status, requests }) => [status, requests.answered])).toEqual(Array(3).fill(["complete", 5]));
    }));
});
