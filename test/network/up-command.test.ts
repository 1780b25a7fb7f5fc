import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { koine, outcomeOf, startKoine } from "../cli/koine.js";
import { isAlive, Site } from "./running.js";

const PLAN = `decisions:
  desk: { selected_protocol: A2A }
  till: { selected_protocol: A2A }
  rules: { selected_protocol: Agora }
modules:
  - { id: desk, demo: true, neighbours: [till, rules], pin: a2a@1.0/GRPC }
  - { id: till, demo: true }
  - { id: rules, demo: true }
`;
const ONE = "decisions: { desk: { selected_protocol: A2A } }\nmodules:\n  - { id: desk, demo: true }\n";
const WAIT_MS = 60_000;

interface Line {
  readonly kind: string;
  readonly id?: string;
  readonly state?: string;
  readonly pid?: number;
}

describe("koine up", () => {
  let site: Site;
  beforeAll(async () => {
    site = await Site.open();
  });
  afterAll(() => site.close());

  /** A running command, with its JSON output. */
  async function up(plan: string) {
    const child = startKoine(["up", await site.write("plan.yaml", plan), "-o", "json"]);
    const ended = outcomeOf(child);
    const printed: Line[] = [];
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream }); // it was started with pipes
    lines.on("line", (line) => printed.push(JSON.parse(line) as Line));
    const saw = async (wanted: (line: Line) => boolean): Promise<Line> => {
      for (;;) {
        const found = printed.find(wanted);
        if (found !== undefined) return found;
        await Promise.race([once(lines, "line"), ended.then(({ stderr }) => Promise.reject(new Error(`it ended: ${stderr}`)))]);
      }
    };
    return { child, ended, printed, saw };
  }

  it(
    "checks a plan and prints its network, for people and for programs",
    async () => {
      const file = await site.write("plan.yaml", PLAN);
      const text = await koine(["up", file, "--check"]);
      expect(text.code).toBe(0);
      expect(text.stdout).toContain("desk   A2A    a2a@1.0/GRPC\n");
      expect(text.stdout).toContain("desk → rules  A2A → Agora  by a bridge: decode_from_a2a, encode_to_agora\n");
      expect(text.stdout).toContain("  off  streaming   Agora has no primitive for it\n");
      expect(text.stdout).toMatch(/\n {2}on {3}streaming {3}SendStreamingMessage/);
      const { stdout } = await koine(["up", file, "--check", "-o", "json"]);
      const network = JSON.parse(stdout) as { nodes: unknown[]; links: { features: unknown[] }[]; bridges: unknown[] };
      expect([network.nodes.length, network.links.length, network.bridges.length]).toEqual([3, 2, 1]);
      expect(network.links[0]?.features).toHaveLength(6);
    },
    WAIT_MS,
  );

  it(
    "reports where a plan is invalid, and how to fix it",
    async () => {
      const file = await site.write("plan.yaml", PLAN.replace("Agora", "ANP"));
      const { code, stderr, stdout } = await koine(["up", file, "--check"]);
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toContain(
        `${file}:6: modules[0].neighbours[1] is rejected: the link from desk to rules would lose verified identity`,
      );
      expect(stderr).toContain("hint: Give both modules a protocol that keeps it, or accept the loss: allowDowngrade");
    },
    WAIT_MS,
  );

  it.each(["SIGINT", "SIGTERM"] as const)(
    "drains and leaves no process behind on %s",
    async (signal) => {
      const { child, ended, saw, printed } = await up(ONE);
      const { pid = 0 } = await saw(({ id, state }) => id === "desk" && state === "ready");
      expect(isAlive(pid)).toBe(true);
      child.kill(signal);
      expect((await ended).code).toBe(0);
      expect(isAlive(pid)).toBe(false);
      expect(printed.slice(-3).map(({ kind, state }) => state ?? kind)).toEqual(["stopping", "stopped", "end"]);
    },
    WAIT_MS,
  );

  it(
    "exits at once on the second Ctrl-C",
    async () => {
      const stubborn = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('deaf')";
      const { child, ended, saw } = await up(
        `decisions: { a: { selected_protocol: A2A } }\nmodules:\n  - { id: a, command: [${process.execPath}, -e, "${stubborn}"] }\n`,
      );
      const { pid = 0 } = await saw(({ id, pid: started }) => id === "a" && started !== null);
      await new Promise<void>((resolve) => child.stderr?.on("data", (chunk) => String(chunk).includes("deaf") && resolve()));
      child.kill("SIGINT");
      await saw(({ state }) => state === "stopping");
      child.kill("SIGINT");
      expect((await ended).code).toBe(130);
      await expect.poll(() => isAlive(pid)).toBe(false);
    },
    WAIT_MS,
  );

  it(
    "ends its agents even when it is killed",
    async () => {
      const { child, ended, saw } = await up(ONE);
      const { pid = 0 } = await saw(({ id, state }) => id === "desk" && state === "ready");
      child.kill("SIGKILL");
      await ended;
      await expect.poll(() => isAlive(pid), { timeout: 15_000 }).toBe(false);
    },
    WAIT_MS,
  );

  it(
    "prints changes as plain lines, and fails when every module was given up",
    async () => {
      const plan = `decisions: { a: { selected_protocol: A2A } }\nmodules:\n  - { id: a, command: [${process.execPath}, -e, "console.log('out of bread'); process.exit(3)"] }\n`;
      const { code, stdout, stderr } = await koine(["up", await site.write("plan.yaml", plan)]);
      expect([code, stdout]).toEqual([1, ""]);
      expect(stderr).toContain("a    | out of bread\n");
      expect(stderr).toMatch(/^a {4}gave-up .*exited with code 3; gave up after 5 restarts within a minute$/m);
      expect(stderr).toContain("error: every module was given up; nothing is left to keep running\n");
      expect(stderr).not.toContain("\u001b");
    },
    WAIT_MS,
  );
});
