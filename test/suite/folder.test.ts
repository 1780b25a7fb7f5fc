import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { readResult } from "../../bench/protocols/folder/folder.js";
import { readSuite } from "../../bench/protocols/suite/suite.js";
import { withFolder } from "../bench/stage.js";
import { koine, outcomeOf, startKoine } from "../cli/koine.js";

const LONG = 300_000;
const SMALL = ["--smoke", "--protocols", "a2a,acp"];

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await pause(20);
}

describe("several scenarios in one folder", { timeout: LONG }, () => {
  it("keeps what was measured when it is interrupted, goes on with the rest, and can be verified", () =>
    withFolder(async (root) => {
      const folder = join(root, "all");
      // A long run, so that it is certainly interrupted in the middle of it.
      const child = startKoine(["bench", "all", "--quick", "--protocols", "a2a", "--only", "echo,routerbench", "--out", folder]);
      await until(() => existsSync(join(folder, "echo", "result.json")));
      child.kill("SIGINT");
      expect(await outcomeOf(child)).toMatchObject({ code: 130, stderr: expect.stringContaining("--resume") });
      expect(readSuite(folder).parts.map(({ name, status }) => [name, status])).toEqual([
        ["echo", "partial"],
        ["routerbench", null],
      ]);
      expect(await koine(["bench", "verify", folder])).toMatchObject({ code: 0 });
      const before = readResult(join(folder, "echo")).runs.filter(({ status }) => status === "complete").length;

      await koine(["bench", "all", "--resume", "--out", folder]);
      const { choice, parts } = readSuite(folder);
      expect(choice).toMatchObject({ mode: "quick", protocols: ["a2a"], parts: ["echo", "routerbench"] });
      expect(parts[1]?.status).toBe("complete");
      const { plan, runs } = readResult(join(folder, "echo"));
      expect(plan.runs.length).toBeGreaterThan(before);
      expect(runs.filter(({ status }) => status === "complete")).toHaveLength(plan.runs.length);
      expect(runs.filter(({ status, attempt }) => status === "complete" && attempt === 1).length).toBeGreaterThanOrEqual(before);
      expect(await koine(["bench", "verify", folder])).toMatchObject({ code: 0 });

      const tables = join(folder, "report.md");
      writeFileSync(tables, readFileSync(tables, "utf8").replace("Table 6", "Table 66"));
      expect(await koine(["bench", "verify", folder])).toMatchObject({ code: 1, stdout: expect.stringContaining("report.md") });
    }));

  it("refuses a folder that is not empty, measures it anew with --force, and refuses a part that there is not", () =>
    withFolder(async (root) => {
      const folder = join(root, "all");
      const args = ["bench", "all", ...SMALL, "--only", "echo,routerbench", "--out", folder];
      expect(await koine(args)).toMatchObject({ code: 0 });
      expect(await koine(args)).toMatchObject({ code: 2, stderr: expect.stringContaining("is not empty") });
      const forced = [
        "bench",
        "all",
        "--smoke",
        "--protocols",
        "agora",
        "--only",
        "echo,routerbench",
        "--out",
        folder,
        "--force",
      ];
      expect(await koine(forced)).toMatchObject({ code: 0 });
      expect(readResult(join(folder, "echo")).plan.arms.map(({ protocol }) => protocol)).toEqual(["agora"]);
      expect(await koine([...args.slice(0, 2), "--only", "nothing"])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("there is no part nothing"),
      });
    }));

  it("takes the priors of what was measured for spec+perf, and only there", () =>
    withFolder(async (root) => {
      const folder = join(root, "all");
      await koine(["bench", "all", ...SMALL, "--only", "echo,routerbench", "--out", folder]);
      const priors = JSON.parse(readFileSync(join(folder, "echo", "priors.json"), "utf8"));
      const order = priors.protocols
        .toSorted((a: { p50Us: number }, b: { p50Us: number }) => a.p50Us - b.p50Us)
        .map(({ protocol }: { protocol: string }) => protocol.toUpperCase());
      const { settings } = JSON.parse(readFileSync(join(folder, "routerbench", "metrics.json"), "utf8"));
      expect(settings.ranking).toEqual(order);
    }));

  it("measures the paper's queue in batches, with its limits, scaled", () =>
    withFolder(async (root) => {
      const folder = join(root, "paper");
      const few = ["--entries", "20", "--batch", "8", "--per-worker", "2", "--runs", "1", "--protocols", "a2a"];
      // A busy machine takes long to connect.
      const patient = ["--connect-timeout", "3000", "--message-timeout", "2000"];
      const args = ["bench", "paper", "--time-scale", "100", ...patient, "--only", "streaming-queue", ...few, "--out", folder];
      await koine(args);
      const { plan, runs } = readResult(join(folder, "streaming-queue"));
      expect(plan.settings).toMatchObject({
        requests: 20,
        batch: 8,
        perWorker: 2,
        answerLimitMs: 600,
        connectTimeoutMs: 30_000,
        messageTimeoutMs: 20_000,
        retries: 3,
      });
      expect(plan.conditions[0]?.load).toEqual({ loop: "closed", clients: 8 });
      expect(runs.map(({ requests }) => requests.sent)).toEqual(plan.runs.map(() => 20));
      const { choice } = readSuite(folder);
      expect(choice).toMatchObject({ suite: "paper", timeScale: 100, parameters: { batch: 8, runtime: 1_800, targetQps: 20 } });
      expect(choice.scaled).toContain("targetQps");
      expect(choice.scaled).not.toContain("entries");
    }));
});
