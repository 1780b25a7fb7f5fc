import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { httpExchange } from "../../conformance/http-exchange.js";
import { agoraProtocol020Gaps } from "../../conformance/known-gaps/agora-protocol-0.2.0.js";
import { runConformance } from "../../conformance/run.js";
import { requirements } from "../../src/protocols/agora/requirements.js";
import type { OfficialServer } from "../peers/official.js";
import { pythonFor, startPython } from "./python.js";

describe.skipIf(pythonFor("agora-0.2.0") === undefined)("the requirements of Agora, against the library's own receiver", () => {
  let server: OfficialServer;
  beforeAll(async () => {
    server = await startPython({ environment: "agora-0.2.0", file: "agora_receiver" });
  });
  afterAll(() => server?.close());

  test("agora-protocol 0.2.0: only the listed gaps", { timeout: 60_000 }, async () => {
    const subject = { url: server.url, exchange: httpExchange, headers: {}, newId: () => crypto.randomUUID() };
    const report = await runConformance(subject, [{ id: "agora", requirements: async () => requirements }], {
      knownGaps: agoraProtocol020Gaps,
    });
    const failures = report.verdicts
      .filter(({ outcome }) => outcome === "unmet" || outcome === "stale gap")
      .map(({ id, outcome, detail }) => `${outcome} ${id}: ${detail}`);
    expect(failures).toEqual([]);
    expect(report.counts.met).toBeGreaterThan(60);
  });
});
