import { afterAll, beforeAll, expect, test } from "vitest";
import { DidCache } from "../../src/protocols/sage/identity/did-cache.js";
import type { DevChain } from "../../src/protocols/sage/node/dev-chain.js";
import { type Changes, REGISTRY_LIMITS } from "../../src/protocols/sage/registry/registry.js";
import type { LocalIdentity } from "../../src/security/identity/index.js";
import { AgentCardChain, keyOf } from "./agent-card.js";
import type { Compiled } from "./compile.js";
import { newAgent, startDevChain } from "./registries.js";

/** The compiler is slow. */
const START_MS = 120_000;

/** What a reader makes of an AgentCardRegistry. Numbers in titles are the known flaws of the contract. */
export function agentCardSuite(contracts: () => { readonly registry: Compiled; readonly hook?: Compiled }): () => AgentCardChain {
  let chain: DevChain;
  let cards: AgentCardChain;
  beforeAll(async () => {
    chain = await startDevChain(0);
    cards = await AgentCardChain.deploy(chain, contracts());
  }, START_MS);
  afterAll(async () => {
    await cards?.close();
    await chain?.stop();
  });

  const cache = () => new DidCache({ registries: [cards.reader] });
  const infoOf = ({ did }: LocalIdentity) => cache().getAgentInfo(did);
  const statesOf = async (agent: LocalIdentity) => (await infoOf(agent)).keys.map(({ kind, state }) => [kind, state]);
  const refusal = (reason: string) => ({ name: "ErrDIDNotResolved", reason });

  test("a card is read with its endpoint and proven keys, and says where it is from", async () => {
    const agent = await newAgent();
    await cards.active(agent);
    expect(await infoOf(agent)).toMatchObject({
      active: true,
      version: 0,
      endpoint: "https://card.example",
      source: { kind: "chain", profile: "agent-card", chainId: 31_337, registry: cards.address },
    });
    expect(await statesOf(agent)).toEqual([
      ["secp256k1", "accepted"],
      ["Ed25519", "accepted"],
      ["X25519", "accepted"],
    ]);
    const { key, id } = keyOf(agent, "Ed25519");
    expect(await cache().resolvePublicKey(agent.did, id)).toMatchObject({ id, kind: "Ed25519", bytes: key.bytes });
  });

  test("a DID that nobody registered is not found; one that is not activated yet is not active", async () => {
    const agent = await newAgent();
    await expect(infoOf(agent)).rejects.toMatchObject(refusal("record.not-found"));
    await cards.register(agent);
    expect(await infoOf(agent)).toMatchObject({ registered: true, active: false });
    await expect(cache().resolvePublicKey(agent.did)).rejects.toMatchObject(refusal("record.inactive"));
  });

  test("a deactivated agent stays so, though a stranger activates it again (1)", async () => {
    const [agent, stranger] = [await newAgent(), await newAgent()];
    const { account, agentId } = await cards.active(agent);
    await cards.write(account, "deactivateAgent", [agent.did]);
    await cards.write(await cards.account(stranger), "activateAgent", [agentId]);
    expect(await cards.read("isAgentActive", [agent.did])).toBe(true);
    expect(await infoOf(agent)).toMatchObject({ registered: true, active: false });
    await expect(cache().resolvePublicKey(agent.did)).rejects.toMatchObject(refusal("record.inactive"));
  });

  test("a stranger cannot take a key out of use by the flag of the contract (2)", async () => {
    const [agent, stranger] = [await newAgent(), await newAgent()];
    await cards.active(agent);
    const { account, agentId } = await cards.active(stranger);
    const { hash, id } = keyOf(agent, "Ed25519");
    await cards.write(account, "revokeKey", [agentId, hash]);
    expect(await cards.read("getKey", [hash])).toMatchObject({ verified: false });
    expect(await cache().resolvePublicKey(agent.did, id)).toMatchObject({ kind: "Ed25519" });
  });

  test("a DID that another account registered is refused (3)", async () => {
    const [victim, squatter] = [await newAgent(), await newAgent()];
    const { account } = await cards.active(squatter, { did: victim.did });
    await expect(infoOf(victim)).rejects.toMatchObject({
      ...refusal("record.invalid"),
      message: `${victim.did} is refused: it was registered by the account ${account}`,
    });
  });

  test("keys that the contract calls verified without a proof by them are not used (5, 8)", async () => {
    const [agent, victim] = [await newAgent(), await newAgent()];
    const [account, signing] = [keyOf(victim, "secp256k1"), keyOf(victim, "Ed25519")];
    const own = await cards.proofOf(agent, keyOf(agent, "secp256k1").key);
    await cards.active(agent, { keys: [account.key, signing.key], proofs: [own, `0x${"07".repeat(64)}`] });
    for (const { hash } of [account, signing]) {
      expect(await cards.read("getKey", [hash])).toMatchObject({ verified: true });
      const id = `${agent.did}#key-${hash.slice(2, 34)}`;
      await expect(cache().resolvePublicKey(agent.did, id)).rejects.toMatchObject(refusal("key.unproven"));
    }
    expect((await infoOf(agent)).keys.map(({ state }) => state)).toEqual(["unproven", "unproven"]);
  });

  test("the proof of an Ed25519 key under another DID is none (5)", async () => {
    const [agent, victim] = [await newAgent(), await newAgent()];
    const { key } = keyOf(victim, "Ed25519");
    await cards.active(agent, { keys: [key], proofs: [await cards.proofOf(victim, key)] });
    expect(await statesOf(agent)).toEqual([["Ed25519", "unproven"]]);
  });

  test("a revoked key for agreement is not used, though the contract still has it as the KEM key (6)", async () => {
    const agent = await newAgent();
    const { account, agentId } = await cards.active(agent);
    const { hash, data, id, key } = keyOf(agent, "X25519");
    await cards.write(account, "revokeKey", [agentId, hash]);
    expect(await cards.read("getKEMKey", [agentId])).toBe(data);
    await expect(cache().resolvePublicKey(agent.did, id)).rejects.toMatchObject(refusal("key.revoked"));
    // Named once more as the KEM key it stays revoked.
    await cards.write(account, "updateKEMKey", [agentId, data, await cards.proofOf(agent, key)]);
    expect(await statesOf(agent)).toEqual([
      ["secp256k1", "accepted"],
      ["Ed25519", "accepted"],
      ["X25519", "revoked"],
    ]);
  });

  test("a KEM key without a proof in the contract is not used, and the one before it has ended (6)", async () => {
    const agent = await newAgent();
    const { account, agentId } = await cards.active(agent);
    const next = agent.rotated({ overlapMs: 0, kinds: ["X25519"] });
    const { data, key } = keyOf(next, "X25519");
    await cards.write(account, "updateKEMKey", [agentId, data, await cards.proofOf(next, key)]);
    expect((await statesOf(agent)).slice(2)).toEqual([
      ["X25519", "ended"],
      ["X25519", "unproven"],
    ]);
    const { id } = keyOf(agent, "X25519");
    await expect(cache().resolvePublicKey(agent.did, id)).rejects.toMatchObject(refusal("key.expired"));
  });

  test("bytes that are no key are unproven and harm no other key", async () => {
    const agent = await newAgent();
    const { account, agentId } = await cards.active(agent);
    const odd = `0x${"01".repeat(31)}${agentId.slice(2, 4)}ff`;
    await cards.write(account, "addKey", [agentId, odd, 1, `0x${"07".repeat(64)}`]);
    expect((await statesOf(agent)).slice(1)).toEqual([
      ["Ed25519", "accepted"],
      ["X25519", "accepted"],
      ["Ed25519", "unproven"],
    ]);
  });

  test("events name the DIDs that changed", async () => {
    const agent = await newAgent();
    const { account, agentId } = await cards.active(agent);
    let cursor = (await cards.reader.changes()).cursor;
    const changed = async (): Promise<Changes["accounts"]> => {
      const changes = await cards.reader.changes(cursor);
      cursor = changes.cursor;
      return changes.accounts;
    };
    expect(await changed()).toEqual([]);
    await cards.write(account, "revokeKey", [agentId, keyOf(agent, "Ed25519").hash]);
    expect(await changed()).toEqual([account]);
    await cards.write(account, "updateAgent", [agentId, "https://new.example", ""]);
    expect(await changed()).toEqual([account]);
    expect(await infoOf(agent)).toMatchObject({ endpoint: "https://new.example", version: 1 });
    await cards.write(account, "deactivateAgent", [agent.did]);
    expect(await changed()).toEqual([account]);
    expect(REGISTRY_LIMITS.nameBytes).toBeGreaterThanOrEqual(keyOf(agent, "Ed25519").id.split("#")[1]?.length ?? 0);
  });

  return () => cards;
}
