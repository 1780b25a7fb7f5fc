import { keccak256 } from "viem";
import { expect, test } from "vitest";
import { AgentCardRegistry } from "../../src/protocols/sage/chain/agent-card-registry.js";
import { EvmRegistry } from "../../src/protocols/sage/chain/evm-registry.js";
import { DidCache } from "../../src/protocols/sage/identity/did-cache.js";
import { deployRegistry } from "../../src/protocols/sage/node/dev-chain.js";
import { type Hex, keyOf } from "./agent-card.js";
import { agentCardSuite } from "./agent-card-suite.js";
import { standIn } from "./compile.js";
import { newAgent, rpc } from "./registries.js";

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

test("an agent with more keys than the contract allows is refused", async () => {
  const agent = await newAgent();
  const { account, agentId } = await cards().active(agent);
  for (let i = 0; i < 8; i++)
    await cards().write(account, "addKey", [
      agentId,
      keccak256(agentId.replace(/..$/, `0${i}`) as Hex),
      1,
      `0x${"07".repeat(64)}`,
    ]);
  await expect(new DidCache({ registries: [cards().reader] }).getAgentInfo(agent.did)).rejects.toMatchObject(
    refused(/it has more than 10 keys/),
  );
});

test("changes of agents without a DID of this network name nobody, and too many are not looked up", async () => {
  const [account] = (await rpc(cards().chain, "eth_accounts", [])) as [Hex];
  const { cursor } = await cards().reader.changes();
  await cards().write(account, "report", [100n]);
  expect((await cards().reader.changes(cursor)).accounts).toEqual([]);
  await cards().write(account, "report", [101n]);
  await expect(cards().reader.changes(cursor)).rejects.toMatchObject({ name: "ErrDIDNotResolved", reason: "record.unreachable" });
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
