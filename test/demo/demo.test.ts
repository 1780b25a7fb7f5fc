import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as after } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { isAlive } from "../network/running.js";
import { KOINE } from "../programs.js";

/** The time limit of the check plus loading time. */
const CHECK_MS = 90_000;
const UP_MS = 60_000;

const started: ChildProcess[] = [];
/** Agent processes, killed if a test leaves them running. */
const agents: number[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
  for (const pid of agents.splice(0).filter(isAlive)) process.kill(pid, "SIGKILL");
});

interface Line {
  readonly [member: string]: unknown;
}

/** Starts `koine demo` and collects its output lines. */
function demo(...args: readonly string[]) {
  const child = spawn(process.execPath, [...KOINE, "demo", "--port", "0", "-o", "json", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.push(child);
  let stderr = "";
  child.stderr.on("data", (chunk) => (stderr += String(chunk)));
  const lines: Line[] = [];
  const reader = createInterface({ input: child.stdout }).on("line", (line) => lines.push(JSON.parse(line) as Line));
  const exit = once(child, "exit").then(([code]: unknown[]) => code);
  const until = async (kind: string): Promise<Line> => {
    for (;;) {
      const found = lines.find((line) => line["kind"] === kind);
      if (found !== undefined) return found;
      await Promise.race([once(reader, "line"), exit.then(() => Promise.reject(new Error(`exited: ${stderr}`)))]);
    }
  };
  return { child, lines, exit, until, stderr: () => stderr };
}

describe("koine demo", () => {
  it(
    "--check runs every check, and all pass",
    async () => {
      const { exit, lines, stderr } = demo("--check");
      const code = await exit;
      expect(lines.filter(({ ok }) => ok !== true)).toEqual([]);
      expect(stderr()).toBe("");
      expect(code).toBe(0);
      const checked = lines.map(({ what }) => String(what));
      // Every available agent is called over another protocol, with every kind of exchange.
      for (const id of ["pilots", "berths", "cranes", "papers", "rules", "customs"])
        expect(checked.some((what) => what.includes(`→ ${id} on`))).toBe(true);
      for (const tries of ["stream", "chain", "question", "job", "cancel", "file", "answer", "sealed"])
        expect(checked.some((what) => what.startsWith(`${tries}:`))).toBe(true);
      expect(checked).toContain("no process is left running");
    },
    CHECK_MS,
  );

  it.each(["SIGTERM", "SIGKILL"] as const)(
    "leaves no process behind after %s",
    async (signal) => {
      const { child, lines, exit, until } = demo("--no-open");
      const { page } = await until("up");
      expect(page).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/koine\/#token=/);
      const pids = lines.flatMap(({ kind, state, pid }) => (kind === "node" && state === "ready" ? [Number(pid)] : []));
      agents.push(...pids);
      expect(pids.length).toBeGreaterThanOrEqual(6);
      expect(pids.filter(isAlive)).toEqual(pids);
      child.kill(signal);
      await exit;
      // Orphaned agents exit by themselves after a moment; the test timeout bounds the wait.
      while (pids.some(isAlive)) await after(50);
      expect(pids.filter(isAlive)).toEqual([]);
    },
    UP_MS,
  );
});
