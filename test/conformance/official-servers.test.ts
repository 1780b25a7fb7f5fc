import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { httpExchange } from "../../conformance/http-exchange.js";
import { a2aJs0314Gaps } from "../../conformance/known-gaps/a2a-js-0.3.14.js";
import { a2aJs130Gaps } from "../../conformance/known-gaps/a2a-js-1.3.0.js";
import { type KnownGaps, type Report, runConformance } from "../../conformance/run.js";
import { requirements } from "../../src/protocols/a2a/requirements.js";
import { startOfficial03 } from "../peers/official-0.3.js";
import { startOfficial13 } from "../peers/official-1.3.js";
import { startOfficialGrpc } from "../peers/official-1.3-grpc.js";

function run(url: string, knownGaps: KnownGaps): Promise<Report> {
  const subject = { url, exchange: httpExchange, headers: {}, newId: () => crypto.randomUUID() };
  return runConformance(subject, [{ id: "a2a", requirements: async () => requirements }], { knownGaps, timeoutMs: 8_000 });
}

const failures = ({ verdicts }: Report): readonly string[] =>
  verdicts
    .filter(({ outcome }) => outcome === "unmet" || outcome === "stale gap")
    .map(({ id, outcome, detail }) => `${outcome} ${id}: ${detail}`);

// The SDKs log every refused request and every notification.
beforeAll(() => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  vi.spyOn(console, "warn").mockImplementation(() => undefined);
  vi.spyOn(console, "info").mockImplementation(() => undefined);
  vi.spyOn(console, "log").mockImplementation(() => undefined);
});
afterAll(() => void vi.restoreAllMocks());

describe("the requirements, against the official servers", () => {
  test("@a2a-js/sdk 1.3.0 without push: only the listed gaps", { timeout: 60_000 }, async () => {
    const server = await startOfficial13();
    const report = await run(server.url, a2aJs130Gaps);
    await server.close();
    expect(failures(report)).toEqual([]);
    expect(report.counts.met).toBeGreaterThan(250);
  });

  test("@a2a-js/sdk 1.3.0 with push and its layer for 0.3: only the listed gaps", { timeout: 60_000 }, async () => {
    const server = await startOfficial13({ push: true, legacy: true });
    const report = await run(server.url, a2aJs130Gaps);
    await server.close();
    expect(failures(report)).toEqual([]);
    expect(report.counts.met).toBeGreaterThan(400);
  });

  test("@a2a-js/sdk 1.3.0 over gRPC, both versions: only the listed gaps", { timeout: 60_000 }, async () => {
    const server = await startOfficialGrpc();
    const report = await run(server.url, a2aJs130Gaps);
    await server.close();
    expect(failures(report)).toEqual([]);
    expect(report.counts.met).toBeGreaterThan(190);
  });

  test("@a2a-js/sdk 0.3.14: only the listed gaps", { timeout: 60_000 }, async () => {
    const server = await startOfficial03();
    const report = await run(server.url, a2aJs0314Gaps);
    await server.close();
    expect(failures(report)).toEqual([]);
    expect(report.counts.met).toBeGreaterThan(120);
  });
});
