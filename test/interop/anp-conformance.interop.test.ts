import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { httpExchange } from "../../conformance/http-exchange.js";
import { anp107FastAnpGaps, anp107OpenAnpGaps } from "../../conformance/known-gaps/anp-1.0.7.js";
import { runConformance } from "../../conformance/run.js";
import { SIGNATURES } from "../../src/protocols/anp/authentication/signatures.js";
import { messageKeyOf } from "../../src/protocols/anp/identity/own-identity.js";
import { requirements } from "../../src/protocols/anp/requirements.js";
import { MessageSigner } from "../../src/security/signatures/index.js";
import type { Exchange } from "../../src/transport/exchange.js";
import { DidDirectory } from "../anp/directory.js";
import { pythonFor, startPython } from "./python.js";

const environment = "anp-1.0.7";
const PROOFS = ["signature-input", "signature", "authorization"];

describe.skipIf(pythonFor(environment) === undefined)("the requirements of ANP, against agents of its own library", () => {
  let directory: DidDirectory;
  beforeAll(async () => {
    directory = await DidDirectory.open();
  });
  afterAll(() => directory?.close());

  /** The agents of the library accept no call without a proof. */
  async function signing(name: string): Promise<Exchange> {
    const signer = new MessageSigner({ profile: SIGNATURES, key: messageKeyOf(await directory.create(name)), now: Date.now });
    return async (request) => {
      // A check of proofs brings its own, however bad it is.
      const hasOwn = PROOFS.some((name) => request.headers[name] !== undefined);
      if (request.method !== "POST" || hasOwn) return httpExchange(request);
      return httpExchange({ ...request, headers: { ...request.headers, ...(await signer.request(request, request.body)) } });
    };
  }

  test.each([
    { kind: "openanp", knownGaps: anp107OpenAnpGaps },
    { kind: "fastanp", knownGaps: anp107FastAnpGaps },
  ])("$kind of anp 1.0.7: only the listed gaps", { timeout: 60_000 }, async ({ kind, knownGaps }) => {
    const server = await startPython({ environment, file: "anp_server" }, kind, `http://127.0.0.1:${directory.port}`);
    try {
      const url = `${server.url.replace("127.0.0.1", "localhost")}/ad.json`;
      const subject = { url, exchange: await signing(kind), headers: {}, newId: () => crypto.randomUUID() };
      const report = await runConformance(subject, [{ id: "anp", requirements: async () => requirements }], { knownGaps });
      const failures = report.verdicts
        .filter(({ outcome }) => outcome === "unmet" || outcome === "stale gap")
        .map(({ id, outcome, detail }) => `${outcome} ${id}: ${detail}`);
      expect(failures).toEqual([]);
      expect(report.counts.met).toBeGreaterThanOrEqual(9);
    } finally {
      await server.close();
    }
  });
});
