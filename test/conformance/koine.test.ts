import { describe, expect, test } from "vitest";
import { httpExchange } from "../../conformance/http-exchange.js";
import { sessionOpener } from "../../conformance/open-session.js";
import { type Report, runConformance } from "../../conformance/run.js";
import { cardSigner, newCardKey } from "../../src/public/auth.js";
import { createIdentity } from "../../src/public/identity.js";
import { protocols } from "../../src/public/protocols.js";
import { ALICE, startGuardedKoine, startKoine } from "../peers/koine.js";

/** The suite's own webhook is on loopback. */
const push = { allow: ["127.0.0.1"] };

const failures = ({ verdicts }: Report): readonly string[] =>
  verdicts
    .filter(({ outcome }) => outcome === "unmet" || outcome === "stale gap")
    .map(({ id, outcome, detail }) => `${outcome} ${id}: ${detail}`);

describe("the requirements, against our own server", () => {
  test("open on loopback: everything is met", { timeout: 120_000 }, async () => {
    const server = await startKoine({ push, identity: createIdentity({ name: "host", did: "key" }) });
    const subject = {
      url: server.url,
      exchange: httpExchange,
      openSession: sessionOpener({}, undefined),
      headers: {},
      newId: () => crypto.randomUUID(),
    };
    const report = await runConformance(subject, protocols);
    await server.close();
    expect(failures(report)).toEqual([]);
    expect(report.counts.met).toBeGreaterThan(700);
    const sessions = report.verdicts.filter(({ id }) => id.includes(":session:") && id.startsWith("anp"));
    expect(sessions.filter(({ outcome }) => outcome !== "met")).toEqual([]);
    expect(sessions).toHaveLength(16);
  });

  test("with bearer tokens, signed cards and an extended card: everything is met", { timeout: 120_000 }, async () => {
    const cardKeys = [cardSigner({ key: newCardKey("ES256", "conform-1").privateJwk })];
    const server = await startGuardedKoine({ push, cardKeys });
    const headers = { authorization: `Bearer ${ALICE}` };
    const subject = { url: server.url, exchange: httpExchange, headers, newId: () => crypto.randomUUID() };
    const report = await runConformance(subject, protocols);
    await server.close();
    expect(failures(report)).toEqual([]);
    const asked = report.verdicts.filter(({ id }) => /:auth:|:extended-card:(given|anonymous)|:delivery:|:signature/.test(id));
    expect(asked.filter(({ outcome }) => outcome !== "met")).toEqual([]);
  });

  test("without push on loopback: requirements that need a webhook are skipped, with the reason", {
    timeout: 120_000,
  }, async () => {
    const server = await startKoine({});
    const subject = {
      url: server.url,
      exchange: httpExchange,
      openSession: sessionOpener({}, undefined),
      headers: {},
      newId: () => crypto.randomUUID(),
    };
    const report = await runConformance(subject, protocols, { only: ["a2a:1.0:grpc:delivery"] });
    await server.close();
    expect(new Set(report.verdicts.map(({ outcome }) => outcome))).toEqual(new Set(["skipped"]));
    expect(report.verdicts[0]?.detail).toMatch(/^the agent notifies no webhook on loopback: /);
  });
});
