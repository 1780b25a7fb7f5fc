import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { KOINE } from "../programs.js";

/** Without the folders of commands, as on a machine where they are not installed. */
const NO_COMMANDS = { PATH: "" };

it.each([
  ["--hosts takes a number from 1 to 9, not 10", "echo --hosts 10", {}],
  ["--hosts: official implementations are served on one host only", "echo --hosts 2 --impl official", {}],
  ["--hosts: agents on other hosts cannot reach a model", "echo --hosts 2 --answers live", {}],
  ["the command ip is not installed", "echo --hosts 2", NO_COMMANDS],
  ["--freeze topology: echo always sends the same request to the same agent", "echo --freeze topology", {}],
  ["--freeze planner: streaming-queue has no planner", "streaming-queue --freeze topology,planner", {}],
  ["--kill-coordinator needs --queue redis", "streaming-queue --kill-coordinator 5", {}],
  [
    "--kill-coordinator 200 is not before the last of 200 entries",
    "streaming-queue --quick --queue redis --kill-coordinator 200",
    {},
  ],
  ["--queue redis: an offered load needs the queue in memory", "streaming-queue --queue redis --rate 50", {}],
  ["the command redis-server is not installed", "streaming-queue --queue redis", NO_COMMANDS],
  ["cannot read /nowhere.jsonl", "streaming-queue --data /nowhere.jsonl", {}],
])("refuses: %s", (problem, args, env) => {
  const argv = [...KOINE, "bench", ...args.split(" "), "--out", "/nowhere/at/all"];
  const { status, stderr } = spawnSync(process.execPath, argv, { encoding: "utf8", env: { ...process.env, ...env } });
  expect([status, stderr]).toEqual([2, expect.stringContaining(problem)]);
});
