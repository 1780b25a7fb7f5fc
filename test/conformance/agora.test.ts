import { describe, expect, test } from "vitest";
import { openHook } from "../../conformance/hook.js";
import { httpExchange } from "../../conformance/http-exchange.js";
import { type Report, type RunOptions, runConformance } from "../../conformance/run.js";
import { mount } from "../../src/index.js";
import { a2a } from "../../src/protocols/a2a/index.js";
import { agora } from "../../src/protocols/agora/index.js";
import { requirements } from "../../src/protocols/agora/requirements.js";
import type { Subject } from "../../src/protocols/requirement.js";
import { bearerTokens } from "../../src/public/auth.js";
import { startAgora, weatherAgent } from "../peers/agora.js";

const ALICE = "alice-token-0123456789";

function check(subject: Pick<Subject, "url"> & Partial<Subject>, options: RunOptions = {}): Promise<Report> {
  const whole = { exchange: httpExchange, headers: {}, newId: () => crypto.randomUUID(), ...subject };
  return runConformance(whole, [{ id: "agora", requirements: async () => requirements }], options);
}

const notMet = ({ verdicts }: Report): readonly string[] =>
  verdicts.filter(({ outcome }) => outcome === "unmet").map(({ id, detail }) => `${id}: ${detail}`);

const skipped = ({ verdicts }: Report): readonly string[] =>
  verdicts.filter(({ outcome }) => outcome === "skipped").map(({ id }) => id);

describe("the requirements of Agora, against our own server", () => {
  test.each(["python", "demo"])("open on loopback, dialect %s: everything is met", { timeout: 60_000 }, async (dialect) => {
    const server = await startAgora({ settings: { agora: { dialect } } });
    const report = await check(server);
    await server.close();
    expect(notMet(report)).toEqual([]);
    expect(report.counts.met).toBeGreaterThan(100);
  });

  test("open on loopback, dialect spec: everything is met", { timeout: 60_000 }, async () => {
    const server = await startAgora({ settings: { agora: { dialect: "spec" } } });
    const report = await check(server);
    await server.close();
    expect(notMet(report)).toEqual([]);
    expect(skipped(report)).toEqual(expect.arrayContaining(["agora:0.2:error:status-error", "agora:0.2:document:rejected"]));
    expect(skipped(report)).not.toContain("agora:0.2:document:rejected-exactly");
  });

  test("with bearer tokens: everything is met", { timeout: 60_000 }, async () => {
    const server = await startAgora({ admission: bearerTokens(new Map([["alice", ALICE]])) });
    const report = await check({ ...server, headers: { authorization: `Bearer ${ALICE}` } });
    await server.close();
    expect(notMet(report)).toEqual([]);
    const asked = report.verdicts.filter(({ id }) => /:auth:|:is-public/.test(id));
    expect(asked.filter(({ outcome }) => outcome !== "met")).toEqual([]);
    expect(asked.length).toBe(6);
  });

  test("beside the other protocols: everything is met", { timeout: 60_000 }, async () => {
    const server = await startAgora({ protocols: [a2a, agora] });
    const report = await check(server);
    await server.close();
    expect(notMet(report)).toEqual([]);
    expect(report.counts.met).toBeGreaterThan(100);
  });

  test("on a public address: no URL on its own machine is fetched", async () => {
    const mounted = mount(weatherAgent(), { protocols: [agora], publicUrl: "https://agent.example" });
    const { exchange } = mounted;
    const report = await check({ url: "https://agent.example", exchange, openHook }, { only: ["agora:0.2:ssrf"] });
    await mounted.close();
    expect(report.verdicts.map(({ id, outcome, detail }) => [id, outcome, detail])).toEqual([
      ["agora:0.2:ssrf:loopback", "met", undefined],
      ["agora:0.2:ssrf:other-schemes", "met", undefined],
      ["agora:0.2:ssrf:tells-nothing", "met", undefined],
    ]);
  });

  test("a server without Agora: everything is skipped, with the reason", async () => {
    const server = await startAgora({ protocols: [a2a] });
    const report = await check(server, { only: ["agora:0.2:natural"] });
    await server.close();
    expect(new Set(report.verdicts.map(({ outcome, detail }) => `${outcome}: ${detail}`))).toEqual(
      new Set(["skipped: no Agora server at this address"]),
    );
  });
});
