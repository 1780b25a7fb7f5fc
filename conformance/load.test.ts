import { expect, test } from "vitest";
import { AgentError } from "../src/index.js";
import { LOAD, runLoad } from "./load.js";

/** Answers that take 1, 2, … ms, one clock tick each, with every tenth a failure. */
test("reports percentiles of the answers, and counts failures apart", async () => {
  let time = 0;
  let sent = 0;
  const peer = {
    protocol: "toy",
    version: "1",
    binding: "HTTP",
    async ask() {
      sent++;
      if (sent % 10 === 0) throw new AgentError("overloaded", "later");
      time += 1;
      return "pong";
    },
  };
  const report = await runLoad(peer, "ping", () => time);
  expect(sent).toBe(LOAD.warmUp + LOAD.messages);
  expect(report).toMatchObject({ protocol: "toy@1/HTTP", messages: 500, concurrency: 8, failed: 50, errors: { overloaded: 50 } });
  expect(report.p50Ms).toBeGreaterThan(0);
  expect(report.p95Ms).toBeGreaterThanOrEqual(report.p50Ms);
  expect(report.p99Ms).toBeGreaterThanOrEqual(report.p95Ms);
});
