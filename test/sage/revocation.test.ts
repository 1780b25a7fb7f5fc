import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, serve } from "../../src/index.js";
import type { DevChain } from "../../src/protocols/sage/node/dev-chain.js";
import { createReplayGuard } from "../../src/security/replay/index.js";
import { DEFAULT_LIMITS } from "../../src/transport/limits.js";
import { RefusalLog } from "../helpers/refusal-log.js";
import { AlteredNode, passed } from "./altered-node.js";
import { chainRegistry, newAgent, register, startDevChain, type TestRegistry } from "./registries.js";
import { PROTOCOLS, WHO } from "./world.js";

/** A server that keeps records for a minute hears of a revocation by the events of the chain, and lets go of the chain when it closes. */

/** The longest life of a record. Whatever is refused earlier is refused because of an event. */
const RECORD_MS = 60_000;
const SOON = { timeout: 15_000, interval: 100 };

let chain: DevChain;
let real: TestRegistry;
let node: AlteredNode;
beforeAll(async () => {
  chain = await startDevChain(0);
  real = await chainRegistry(chain);
  node = await AlteredNode.start(chain.rpc);
});
afterAll(async () => {
  await node?.close();
  await real?.close();
  await chain?.stop();
});

const settings = (rpc: string, seal: boolean) => {
  const [, , registry = ""] = real.registry.id.split(":");
  return { sage: { rpc, registry, recordMs: RECORD_MS, seal } };
};

test.each([
  ["signs", false],
  ["seals", true],
])("revoked on the chain: the next message of a caller that %s is refused long before its record is old", async (_, seal) => {
  const log = new RefusalLog("sage");
  const [desk, ann] = [await newAgent(), await newAgent()];
  await register(real, desk);
  const account = await register(real, ann);
  node.alter = passed;
  const server = await serve(WHO, {
    ...{ protocols: PROTOCOLS, port: 0, identity: desk, settings: settings(node.rpc, seal), audit: log.audit },
    telemetry: log.telemetry,
    replay: createReplayGuard({ limits: DEFAULT_LIMITS, now: Date.now, knownSinceMs: 0 }),
  });
  const peer = await connect(server.url, {
    ...{ protocols: PROTOCOLS, pin: "sage", identity: ann, settings: settings(chain.rpc, seal) },
  });
  try {
    expect(await peer.ask("hello")).toBe(`did:${ann.did}: hello`);
    const reads = node.calls.filter((method) => method === "eth_call").length;
    expect(await peer.ask("again")).toBe(`did:${ann.did}: again`);
    // It is kept: nobody read it again.
    expect(node.calls.filter((method) => method === "eth_call")).toHaveLength(reads);
    await real.registry.submit(account, { kind: "revoke", name: "key-2" });
    await expect.poll(() => peer.ask("more").catch(() => "refused"), SOON).toBe("refused");
    expect(log.all().length).toBeGreaterThan(0);
    log.expectMetered();
  } finally {
    await peer.close();
    await server.close();
  }
  // The server asked the node; the client asked the chain itself.
  await expect.poll(() => node.connections(), SOON).toBe(0);
});
