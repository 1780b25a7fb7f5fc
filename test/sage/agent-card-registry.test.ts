import { expect, test } from "vitest";
import { AgentCardRegistry } from "../../src/protocols/sage/chain/agent-card-registry.js";
import { EvmRegistry } from "../../src/protocols/sage/chain/evm-registry.js";
import { DidCache } from "../../src/protocols/sage/identity/did-cache.js";
import { deployRegistry } from "../../src/protocols/sage/node/dev-chain.js";
import { keyOf } from "./agent-card.js";
import { agentCardSuite } from "./agent-card-suite.js";
import { standIn } from "./compile.js";
import { newAgent } from "./registries.js";

const cards = agentCardSuite(standIn);

const refused = (message: RegExp) => ({
  name: "ErrDIDNotResolved",
  reason: "record.invalid",
  message: expect.stringMatching(message),
});

/** A registered agent whose contract then answers something else. */
async function liedAbout(lie: { chainId?: bigint; did?: string; keyType?: number; data?: string }) {
  const agent = await newAgent();
  const { account, agentId } = await cards().active(agent);
  const { hash, data } = keyOf(agent, "Ed25519");
  const { chainId = 31_337n, did = agent.did, keyType = 1 } = lie;
  await cards().write(account, "lie", [agentId, chainId, did, hash, keyType, lie.data ?? data]);
  return new DidCache({ registries: [cards().reader] }).getAgentInfo(agent.did);
}

test("a record of another chain is refused", async () => {
  await expect(liedAbout({ chainId: 1n })).rejects.toMatchObject(refused(/its record is of chain 1; local is 31337/));
});

test("a record of another DID is refused", async () => {
  await expect(liedAbout({ did: "did:sage:ethereum:0x1" })).rejects.toMatchObject(refused(/its record is that of "did:sage:eth/));
});

test("a key whose bytes are not those of its hash is refused", async () => {
  await expect(liedAbout({ data: `0x${"05".repeat(32)}` })).rejects.toMatchObject(refused(/other bytes than its hash says/));
});

test("a key of an unknown kind is refused", async () => {
  await expect(liedAbout({ keyType: 3 })).rejects.toMatchObject(refused(/is of the unknown kind 3/));
});

test("a contract of the other profile is refused by each reader", async () => {
  const { chain, address } = cards();
  const ours = await deployRegistry(chain.rpc);
  const account = `0x${"1".repeat(40)}`;
  const wrong = [
    new AgentCardRegistry({ network: "local", rpc: chain.rpc, registry: ours }),
    new EvmRegistry({ network: "local", rpc: chain.rpc, registry: address }),
  ];
  for (const registry of wrong) {
    await expect(registry.read(account)).rejects.toMatchObject(refused(/is not a registry of the configured profile/));
    await registry.close();
  }
});
