import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as after } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import { isAlive } from "../network/running.js";
import { KOINE } from "../programs.js";

/** What the demo allows itself, and time to load. */
const CHECK_MS = 90_000;
const UP_MS = 60_000;

const started: ChildProcess[] = [];
/** Agents of the demo, for the case that it does leave them behind. */
const agents: number[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill("SIGKILL");
  for (const pid of agents.splice(0).filter(isAlive)) process.kill(pid, "SIGKILL");
});

interface Line {
  readonly [member: string]: unknown;
}

/** `koine demo` as people start it, with its lines as they come. */
function demo(...args: readonly string[]) {
  const child = spawn(process.execPath, [...KOINE, "demo", "--port", "0", "-o", "json", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.push(child);
  let talk = "";
  child.stderr.on("data", (chunk) => (talk += String(chunk)));
  const lines: Line[] = [];
  const reader = createInterface({ input: child.stdout }).on("line", (line) => lines.push(JSON.parse(line) as Line));
  const exit = once(child, "exit").then(([code]: unknown[]) => code);
  const until = async (kind: string): Promise<Line> => {
    for (;;) {
      const found = lines.find((line) => line["kind"] === kind);
      if (found !== undefined) return found;
      await Promise.race([once(reader, "line"), exit.then(() => Promise.reject(new Error(`it has ended: ${talk}`)))]);
    }
  };
  return { child, lines, exit, until, talk: () => talk };
}

describe("koine demo", () => {
  it(
    "--check tries everything once, and everything holds",
    async () => {
      const { exit, lines, talk } = demo("--check");
      const code = await exit;
      expect(lines.filter(({ ok }) => ok !== true)).toEqual([]);
      expect(talk()).toBe("");
      expect(code).toBe(0);
      const checked = lines.map(({ what }) => String(what));
      // Every agent that can be had is called in a protocol that is not its own, and every kind of exchange takes place.
      for (const id of ["pilots", "berths", "cranes", "papers", "rules"])
        expect(checked.some((what) => what.includes(`→ ${id} on`))).toBe(true);
      for (const tries of ["stream", "chain", "question", "job", "cancel", "file", "answer"])
        expect(checked.some((what) => what.startsWith(`${tries}:`))).toBe(true);
      expect(checked).toContain("nothing is left running");
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
      expect(pids.length).toBeGreaterThanOrEqual(5);
      expect(pids.filter(isAlive)).toEqual(pids);
      child.kill(signal);
      await exit;
      // Whoever is orphaned notices by itself, which takes a moment; the time limit of the test is the end of our patience.
      while (pids.some(isAlive)) await after(50);
      expect(pids.filter(isAlive)).toEqual([]);
    },
    UP_MS,
  );
});
