import { afterEach, describe, expect, test } from "vitest";
import { httpExchange, runThrough, type Subject, sessionOpener } from "../../conformance/index.js";
import { bridge, DiscoveryCache, serve } from "../../src/index.js";
import { anp } from "../../src/protocols/anp/index.js";
import { boundIdentity, freePort, LOOPBACK } from "../anp/directory.js";
import { startKoine } from "../peers/koine.js";

/** Agents with identities behind a gateway: what holds of their sealed sessions holds through it, too. */

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function subjectAt(url: string): Subject {
  const openSession = sessionOpener({}, undefined);
  return { url, exchange: httpExchange, openSession, headers: {}, newId: () => crypto.randomUUID() };
}

async function identified(name: string) {
  const port = await freePort();
  return { port, identity: boundIdentity(port, name), settings: LOOPBACK };
}

describe("a gateway before an agent with a DID", () => {
  test.each([
    // The session ends at the agent, which proves its own DID; the gateway has none.
    { mode: "relay", own: async () => ({ settings: LOOPBACK }) },
    // It ends at the gateway, which proves the DID of the gateway.
    { mode: "adopt", own: () => identified("gateway") },
  ] as const)(
    "in $mode mode breaks no requirement of ANP, sealed sessions included",
    { timeout: 240_000 },
    async ({ mode, own }) => {
      const agent = await identified("agent");
      const server = await startKoine({ protocols: [anp], ...agent });
      closing.push(() => server.close());
      const options = { protocols: [anp], settings: LOOPBACK, discoveryCache: new DiscoveryCache() };
      const bridged = await bridge(agent.identity.did, { ...options, bridge: { mode, name: "conform" } });
      closing.push(() => bridged.close());
      const gateway = await serve(bridged, { protocols: [anp], ...(await own()) });
      closing.push(() => gateway.close());
      const end = (url: string) => ({ subject: subjectAt(url), protocols: [anp] });
      const report = await runThrough(end(server.url), end(gateway.url), { timeoutMs: 10_000 });
      expect(report.broken).toEqual([]);
      const sealed = report.through.verdicts.filter(({ id }) => id.startsWith("anp:1.2:session:"));
      expect(sealed.filter(({ outcome }) => outcome !== "met")).toEqual([]);
      expect(sealed.length).toBeGreaterThanOrEqual(16);
    },
  );
});
