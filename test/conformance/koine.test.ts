import { describe, expect, test } from "vitest";
import { httpExchange } from "../../conformance/http-exchange.js";
import { type Report, runConformance } from "../../conformance/run.js";
import { bearerTokens, protocols } from "../../src/index.js";
import { startKoine } from "../peers/koine.js";

const TOKEN = "a-token-for-this-test-only";

const failures = ({ verdicts }: Report): readonly string[] =>
  verdicts
    .filter(({ outcome }) => outcome === "unmet" || outcome === "stale gap")
    .map(({ id, outcome, detail }) => `${outcome} ${id}: ${detail}`);

describe("the requirements, against our own server", () => {
  test("open on loopback: everything is met", { timeout: 60_000 }, async () => {
    const server = await startKoine({});
    const subject = { url: server.url, exchange: httpExchange, headers: {}, newId: () => crypto.randomUUID() };
    const report = await runConformance(subject, protocols);
    await server.close();
    expect(failures(report)).toEqual([]);
    expect(report.counts.met).toBeGreaterThan(450);
  });

  test("behind bearer tokens: everything is met", { timeout: 60_000 }, async () => {
    const server = await startKoine({ admission: bearerTokens(new Map([["alice", TOKEN]])) });
    const headers = { authorization: `Bearer ${TOKEN}` };
    const subject = { url: server.url, exchange: httpExchange, headers, newId: () => crypto.randomUUID() };
    const report = await runConformance(subject, protocols);
    await server.close();
    expect(failures(report)).toEqual([]);
    expect(report.verdicts.filter(({ id, outcome }) => id.includes(":auth:") && outcome !== "met")).toEqual([]);
  });
});
