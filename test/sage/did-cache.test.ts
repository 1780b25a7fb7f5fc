import { afterAll, beforeAll, expect, test } from "vitest";
import { CancelSource } from "../../src/envelope/index.js";
import { EvmRegistry } from "../../src/protocols/sage/chain/evm-registry.js";
import { DidCache, didSage } from "../../src/protocols/sage/identity/did-cache.js";
import { checkedSageDid, parseSageDid } from "../../src/protocols/sage/identity/did-sage.js";
import type { DevChain } from "../../src/protocols/sage/node/dev-chain.js";
import { challengeOf } from "../../src/protocols/sage/registry/possession.js";
import { createResolver } from "../../src/security/identity/index.js";
import { chainRegistry, embeddedRegistry, newAgent, register, startDevChain, type TestRegistry } from "./registries.js";

let chain: DevChain;
let under: TestRegistry;
beforeAll(async () => {
  chain = await startDevChain(0);
  under = await chainRegistry(chain);
});
afterAll(async () => {
  await under.close();
  await chain.stop();
});

const NONE = `did:sage:local:0x${"1".repeat(40)}`;

test("a DID has one spelling", () => {
  expect(parseSageDid("did:sage:kaia:0x9876543210fedcba9876543210fedcba98765432")).toMatchObject({ network: "kaia" });
  const wrong = [
    "did:sage:ethereum:0x123",
    "did:sage:ethereum:0x1234567890ABCDEF1234567890abcdef12345678",
    `${NONE}#key-1`,
    "did:web:a",
  ];
  for (const did of wrong) expect(() => checkedSageDid(did)).toThrow("is not did:sage:NETWORK:0x");
  expect(() => checkedSageDid(NONE.replace("local", "solana"))).toThrow("there is no network solana");
});

test("the challenge is that of SAGE 0.10.0", async () => {
  const bytes = Buffer.from("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "hex");
  const place = { registry: "web:agents.example.com", agent: "billing-bot", name: "sign-1" };
  const digest = await crypto.subtle.digest("SHA-256", Uint8Array.from(challengeOf(place, { kind: "Ed25519", bytes })));
  expect(Buffer.from(digest).toString("hex")).toBe("209a10fdd134ed64c564a4f388089f266c96108faf9aab776cb7c3a583e24916");
});

test("resolves keys through the resolver port, with the endpoint as a service", async () => {
  const agent = await newAgent();
  await register(under, agent);
  const resolver = createResolver({ methods: [didSage(new DidCache({ registries: [under.registry] }))] });
  const { document } = await resolver.resolve(agent.did, new CancelSource());
  expect(document.keys.map(({ id, uses }) => [id.split("#")[1], uses])).toEqual([
    ["key-1", ["authentication", "assertion"]],
    ["key-2", ["authentication", "assertion"]],
    ["key-3", ["agreement"]],
  ]);
  expect(document.services).toMatchObject([{ url: "https://agent.example/a2a" }]);
  await expect(resolver.resolve(NONE, new CancelSource())).rejects.toMatchObject({
    code: "not_found",
    cause: { name: "ErrDIDNotResolved", reason: "record.not-found" },
  });
});

test("a document is made once from a record that is kept, and anew from the next one", async () => {
  const agent = await newAgent();
  const account = await register(under, agent);
  let now = 1_000;
  const method = didSage(new DidCache({ registries: [under.registry], now: () => now }));
  const resolve = () => method.resolve(agent.did, () => expect.fail("nothing is fetched"), now);
  const document = await resolve();
  await under.registry.submit(account, { kind: "revoke", name: "key-2" });
  now = 5_999;
  expect(await resolve()).toBe(document);
  now = 6_000;
  expect((await resolve()).keys.map(({ id }) => id.split("#")[1])).toEqual(["key-1", "key-3"]);
});

test("keeps a record for its time, and a revocation takes effect after it", async () => {
  const agent = await newAgent();
  const account = await register(under, agent);
  let now = 1_000;
  const cache = new DidCache({ registries: [under.registry], now: () => now });
  expect(await cache.resolvePublicKey(agent.did, `${agent.did}#key-2`)).toMatchObject({ kind: "Ed25519" });
  await under.registry.submit(account, { kind: "revoke", name: "key-2" });
  now = 5_999;
  expect((await cache.getAgentInfo(agent.did)).version).toBe(1);
  now = 6_000;
  await expect(cache.resolvePublicKey(agent.did, `${agent.did}#key-2`)).rejects.toMatchObject({ reason: "key.revoked" });
  await expect(cache.resolvePublicKey(agent.did, `${agent.did}#key-9`)).rejects.toMatchObject({ reason: "key.not-in-record" });
  await under.registry.submit(account, { kind: "deactivate" });
  now = 11_000;
  expect(await cache.getAgentInfo(agent.did)).toMatchObject({ registered: true, active: false });
  await expect(cache.resolvePublicKey(agent.did)).rejects.toMatchObject({ name: "ErrDIDNotResolved", reason: "record.inactive" });
  expect(() => new DidCache({ registries: [], limits: { ttlMs: 60_001 } })).toThrow("at most 60000 ms");
});

test.each(["chain", "embedded"] as const)("an event of the registry ends what was kept (%s)", async (kind) => {
  const registries = kind === "chain" ? under : await embeddedRegistry();
  const agent = await newAgent();
  const account = await register(registries, agent);
  const cache = new DidCache({ registries: [registries.registry], limits: { ttlMs: 60_000, watchMs: 20 }, now: () => 1_000 });
  const stop = cache.watch();
  try {
    const versionBecomes = (version: number) =>
      expect.poll(async () => (await cache.getAgentInfo(agent.did)).version, { timeout: 15_000 }).toBe(version);
    await versionBecomes(1);
    await registries.registry.submit(account, { kind: "revoke", name: "key-2" });
    await versionBecomes(2);
  } finally {
    stop();
    if (kind === "embedded") await registries.close();
  }
});

test("the node stopped: refused with a name, also what was kept if changes are watched", async () => {
  const own = await startDevChain(0);
  const registries = await chainRegistry(own);
  try {
    const agent = await newAgent();
    await register(registries, agent);
    const cache = new DidCache({ registries: [registries.registry], limits: { ttlMs: 60_000, watchMs: 20 } });
    const stop = cache.watch();
    expect((await cache.getAgentInfo(agent.did)).active).toBe(true);
    await own.stop("SIGKILL");
    await expect
      .poll(() => cache.resolvePublicKey(agent.did).catch((thrown: unknown) => thrown), { timeout: 15_000 })
      .toMatchObject({ name: "ErrDIDNotResolved", reason: "record.unreachable", code: "unavailable" });
    stop();
  } finally {
    await registries.close();
    await own.stop();
  }
});

test("a node of another chain and an address without a contract are refused", async () => {
  const registry = `0x${"2".repeat(40)}`;
  const other = new EvmRegistry({ network: "kairos", rpc: chain.rpc, registry });
  await expect(other.read(registry)).rejects.toMatchObject({ reason: "record.invalid", message: /is of chain 31337/ });
  const empty = new EvmRegistry({ network: "local", rpc: chain.rpc, registry });
  await expect(empty.read(registry)).rejects.toMatchObject({ reason: "record.invalid", message: /there is no contract/ });
  expect(() => new EvmRegistry({ network: "kaia", rpc: "http://node.example/v1/secret", registry })).toThrow(
    "the chain node at node.example must be reached by https",
  );
  await Promise.all([other.close(), empty.close()]);
});
