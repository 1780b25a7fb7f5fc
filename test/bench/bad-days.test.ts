import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { readResult, runBench, verifyFolder } from "../../bench/protocols/index.js";
import { compiled, KOINE } from "../programs.js";
import { isAlive, options, PROCESSES, testPlan, withFolder } from "./stage.js";

const LONG = 300_000;

/** Process ids that the events of a folder name. */
function pidsIn(folder: string): readonly number[] {
  const text = readFileSync(join(folder, "events.ndjson"), "utf8");
  return [...text.matchAll(/"pid":(\d+)/g)].map((match) => Number(match[1]));
}

async function gone(pids: readonly number[]): Promise<void> {
  while (pids.some(isAlive)) await pause(20);
}

describe("a worker", { timeout: LONG }, () => {
  it("that never starts fails its run with its name, and the benchmark after three", () =>
    withFolder(async (folder) => {
      const files = { ...PROCESSES, wire: compiled("test/bench/processes/silent.ts") };
      const result = await runBench(options(folder, testPlan({ settings: { runs: 2 } }), { files, startMs: 500 }));
      expect(result.status).toBe("partial");
      expect(result.runs.map(({ status, reason }) => [status, reason])).toEqual(
        Array(3).fill(["failed", "wire open: no reply within 500 ms"]),
      );
    }));

  it("that never serves an agent fails its run with its name", () =>
    withFolder(async (folder) => {
      const files = { ...PROCESSES, agent: compiled("test/bench/processes/silent.ts") };
      const plan = testPlan();
      const result = await runBench(options(folder, { ...plan, runs: plan.runs.slice(0, 1) }, { files, startMs: 10_000 }));
      expect(result.runs[0]).toMatchObject({ status: "failed", reason: "agents-1 start: no reply within 10000 ms" });
    }));

  it("that answers nonsense fails its run", () =>
    withFolder(async (folder) => {
      const files = { ...PROCESSES, agent: compiled("test/bench/processes/nonsense.ts") };
      const result = await runBench(options(folder, testPlan(), { files }));
      expect(result.runs[0]).toMatchObject({ status: "failed", reason: "the process of agent-1 does not say where it listens" });
    }));

  it("that exits at once fails its run", () =>
    withFolder(async (folder) => {
      const files = { ...PROCESSES, caller: join(folder, "no-such-program.js") };
      const result = await runBench(options(folder, testPlan(), { files }));
      expect(result.runs[0]?.reason).toMatch(/^caller connect: the process ended \(1\)/);
    }));
});

it("says which port is taken", { timeout: LONG }, () =>
  withFolder(async (folder) => {
    const server = createServer();
    const port = await new Promise<number>((resolve) =>
      server.listen(0, "127.0.0.1", () => {
        const address = server.address();
        resolve(typeof address === "object" && address !== null ? address.port : 0);
      }),
    );
    try {
      const result = await runBench(options(folder, testPlan(), { basePort: port }));
      expect(result.runs[0]?.reason).toBe(`port ${port} is already in use; choose another --base-port, or none`);
    } finally {
      server.close();
    }
  }),
);

/** A benchmark that goes on until it is ended. */
function command(folder: string): readonly string[] {
  return [...KOINE, "bench", "echo", "--runs", "2", "--requests", "1000000", "--measure", "60", "--out", folder];
}

function startBench(folder: string): ChildProcess {
  return spawn(process.execPath, command(folder), { stdio: ["ignore", "pipe", "pipe"] });
}

/** The first run is measuring: its processes are known. */
async function measuring(folder: string): Promise<readonly number[]> {
  for (;;) {
    try {
      const pids = pidsIn(folder);
      if (pids.length >= 2) return pids;
    } catch {
      // Not yet there.
    }
    await pause(50);
  }
}

describe("the command", { timeout: LONG }, () => {
  it("ends on Ctrl-C with what was measured, marked, and without a process left", () =>
    withFolder(async (folder) => {
      const where = join(folder, "result");
      const child = startBench(where);
      const text = collected(child);
      const pids = await measuring(where);
      const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
      child.kill("SIGINT");
      expect(await ended).toBe(130);
      await gone(pids);
      expect(text()).toContain("interrupted: what was measured is in");
      expect(readResult(where).status).toBe("partial");
      expect((await verifyFolder(where)).differences).toEqual([]);
    }));

  it("leaves no process and readable events when it is killed", () =>
    withFolder(async (folder) => {
      const where = join(folder, "result");
      const child = startBench(where);
      const pids = await measuring(where);
      child.kill("SIGKILL");
      await gone(pids);
      const verified = spawn(process.execPath, [...KOINE, "bench", "verify", where], { stdio: ["ignore", "pipe", "pipe"] });
      const text = collected(verified);
      await new Promise((resolve) => verified.once("close", resolve));
      expect(text()).toMatch(/status: partial/);
    }));

  it("says that the disk is full, and leaves no process", () =>
    withFolder(async (folder) => {
      const where = join(folder, "result");
      // A file may have 400 blocks; the signal is ignored, so that the write fails as on a full disk.
      const limited = ["-c", 'trap "" XFSZ; ulimit -f 400; exec "$@"', "sh", process.execPath, ...command(where)];
      const child = spawn("sh", limited, { stdio: ["ignore", "pipe", "pipe"] });
      const text = collected(child);
      expect(await new Promise((resolve) => child.once("close", resolve))).toBe(1);
      expect(text()).toContain("no space left on the disk; free some, then go on with --resume");
      await gone(pidsIn(where));
      expect(readResult(where).status).toBe("partial");
    }));

  it.each([
    ["--answers recorded needs --recording", ["--answers", "recorded"]],
    ["does not exist", ["--answers", "recorded", "--recording", "/nowhere.jsonl"]],
    ["there is no protocol nothing", ["--protocols", "nothing"]],
  ])("refuses: %s", async (problem, args) => {
    const child = spawn(process.execPath, [...KOINE, "bench", "echo", ...args], { stdio: ["ignore", "pipe", "pipe"] });
    const text = collected(child);
    expect(await new Promise((resolve) => child.once("close", resolve))).toBe(2);
    expect(text()).toContain(problem);
  });

  it("names file and line of malformed entries", () =>
    withFolder(async (folder) => {
      const file = join(folder, "entries.jsonl");
      writeFileSync(file, '{"id":"1","q":"what?"}\n{"id":"2"}\n');
      const argv = [...KOINE, "bench", "streaming-queue", "--data", file, "--out", join(folder, "result")];
      const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "pipe"] });
      const text = collected(child);
      expect(await new Promise((resolve) => child.once("close", resolve))).toBe(2);
      expect(text()).toContain(`${file}:2: an entry has id and q`);
    }));

  it("names file and line of a malformed recording", () =>
    withFolder(async (folder) => {
      const file = join(folder, "answers.jsonl");
      writeFileSync(file, `${JSON.stringify({ request: "0".repeat(64), answer: "yes" })}\n{"request": 1}\n`);
      const argv = [...KOINE, "bench", "echo", "--answers", "recorded", "--recording", file];
      const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "pipe"] });
      const text = collected(child);
      expect(await new Promise((resolve) => child.once("close", resolve))).toBe(2);
      expect(text()).toContain(`${file}:2: request:`);
    }));
});

function collected(child: ChildProcess): () => string {
  let text = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
  return () => text;
}
