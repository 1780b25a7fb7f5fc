import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openGateway } from "../../apps/gateway/gateway.js";
import { configFrom, parseConfig } from "../../apps/gateway/read-config.js";
import { AgentError, agent, connect, DiscoveryCache, type Layer, openSqliteStore, serve } from "../../src/index.js";
import { createBandit } from "../../src/router/index.js";

/** A gateway whose upstream speaks two protocols, of which one fails. */

const FAILING = "a2a";
const failing: Layer = (next) => (operation, call) =>
  operation.kind === "send" && call.via.protocol === FAILING
    ? Promise.reject(new AgentError("overloaded", "not today"))
    : next(operation, call);
const echo = agent({ name: "echo", description: "says it again", handle: ({ text }) => text });

let folder: string;
const cleanups: (() => unknown)[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "koine-learn-"));
});
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
  await rm(folder, { recursive: true });
});

/** One life of a gateway: a few calls, whatever comes of them. Returns the protocol that it chose. */
async function life(upstream: string, calls: number): Promise<string | undefined> {
  const config = configFrom(
    {
      listen: { port: 0 },
      store: { sqlite: "data" },
      secret: { env: "SECRET" },
      admin: false,
      agents: [{ name: "echo", upstream, learn: { feasible: ["a2a", "acp"], context: "tests" } }],
    },
    { folder, env: { SECRET: "0123456789abcdef" } },
  );
  const gateway = await openGateway(config);
  try {
    const peer = await connect(gateway.url, { pin: "a2a", discoveryCache: new DiscoveryCache() });
    for (let call = 0; call < calls; call++) await peer.ask("hello").catch(() => undefined);
    await peer.close();
    return gateway.agents()[0]?.upstreams[0]?.speaks;
  } finally {
    await gateway.close();
  }
}

describe("learn", () => {
  it("chooses among the protocols of an upstream by how calls went, also of earlier gateways on the store", async () => {
    const server = await serve(echo, { layers: [failing] });
    cleanups.push(() => server.close());
    const chosen: (string | undefined)[] = [];
    for (let each = 0; each < 8; each++) chosen.push(await life(server.url, 6));
    expect(chosen.slice(-3).every((speaks) => speaks?.startsWith("acp"))).toBe(true);
    const store = await openSqliteStore({ file: join(folder, "data", "tasks.db"), now: Date.now });
    cleanups.push(() => store.close?.());
    const state = await createBandit({ records: store.records, seed: 0 }).state("tests");
    expect(state.get("acp")?.good).toBeGreaterThan(5);
    expect(state.get(FAILING)?.good ?? 0).toBe(0);
  });

  it.each([
    ["learn: { feasible: [a2a@1.0] }", "must be a protocol, without a version"],
    ["learn: { feasible: [a3a] }", "did you mean a2a?"],
    ["pin: acp\n    learn: true", "learn has no effect with pin"],
  ])("is refused with a reason: %s", async (member, reason) => {
    const text = `agents:\n  - name: one\n    upstream: http://127.0.0.1:9\n    ${member}\n`;
    await expect(parseConfig(text, { name: "koine.yaml", folder, env: {} })).rejects.toThrow(reason);
  });
});
