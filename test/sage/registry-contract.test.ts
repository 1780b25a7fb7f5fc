import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { accountOf } from "../../src/protocols/sage/identity/account.js";
import { verifiedInfo } from "../../src/protocols/sage/identity/agent-record.js";
import { checkedSageDid } from "../../src/protocols/sage/identity/did-sage.js";
import type { DevChain } from "../../src/protocols/sage/node/dev-chain.js";
import { provenKey } from "../../src/protocols/sage/registry/possession.js";
import type { LocalIdentity } from "../../src/security/identity/index.js";
import {
  chainRegistry,
  embeddedRegistry,
  newAgent,
  register,
  registrationOf,
  startDevChain,
  type TestRegistry,
} from "./registries.js";

/** What every registry does, on a real chain and in SQLite. Numbers in titles are flaws of AgentCardRegistry that this one does not have. */

let chain: DevChain;
beforeAll(async () => {
  chain = await startDevChain(0);
});
afterAll(() => chain.stop());

describe.each(["chain", "embedded"] as const)("a registry (%s)", (kind) => {
  let under: TestRegistry;
  beforeAll(async () => {
    under = kind === "chain" ? await chainRegistry(chain) : await embeddedRegistry();
  });
  afterAll(() => under.close());

  const refused = (reason: string) => ({ name: "AgentError", reason });
  const infoOf = async ({ did }: LocalIdentity) => {
    const parsed = checkedSageDid(did);
    const record = await under.registry.read(parsed.account);
    if (record === undefined) throw new Error(`${did} is not registered`);
    return verifiedInfo(parsed, record, under.registry, await under.now());
  };
  const nextKey = async (identity: LocalIdentity, kind: "Ed25519" | "X25519" = "Ed25519") => {
    const next = identity.rotated({ overlapMs: 0, kinds: [kind] });
    const key = next.keys().find((each) => each.kind === kind && !identity.keys().some(({ id }) => id === each.id));
    if (key === undefined) throw new Error("no new key");
    return { next, key: await provenKey(next, key, under.registry.id, checkedSageDid(identity.did).account) };
  };

  test("registers by commitment and reveal, several keys with proofs, and says where the record is from", async () => {
    const agent = await newAgent();
    const account = await register(under, agent);
    const info = await infoOf(agent);
    expect(info).toMatchObject({
      did: agent.did,
      registered: true,
      active: true,
      version: 1,
      endpoint: "https://agent.example/a2a",
      source: { kind },
    });
    expect(info.keys.map(({ id, kind: each, state }) => [id, each, state])).toEqual([
      [`${agent.did}#key-1`, "secp256k1", "accepted"],
      [`${agent.did}#key-2`, "Ed25519", "accepted"],
      [`${agent.did}#key-3`, "X25519", "accepted"],
    ]);
    expect(info.keys.map(({ bytes }) => bytes)).toEqual(agent.history().map(({ bytes }) => bytes));
    await expect(under.registry.submit(account, await registrationOf(agent, under.registry))).rejects.toMatchObject(
      refused("AlreadyRegistered"),
    );
  });

  test("knows nothing of an account without a record", async () => {
    expect(await under.registry.read(`0x${"1".repeat(40)}`)).toBeUndefined();
  });

  test("refuses a reveal that was not committed, by this account, as it is", async () => {
    const [agent, other] = [await newAgent(), await newAgent()];
    const [account, stranger] = [await accountOf(agent), await accountOf(other)];
    await under.fund(account.address);
    await under.fund(stranger.address);
    const registration = await registrationOf(agent, under.registry);
    await expect(under.registry.submit(account, registration)).rejects.toMatchObject(refused("NoCommitment"));
    const commitment = await under.registry.commitmentOf(account.address, registration);
    // Somebody who copies the commitment, and then the reveal, gets nowhere (3): the record is that of its sender.
    await under.registry.submit(stranger, { kind: "commit", commitment });
    await expect(under.registry.submit(account, registration)).rejects.toMatchObject(refused("NoCommitment"));
    await expect(under.registry.submit(stranger, registration)).rejects.toMatchObject(refused("NoCommitment"));
    await under.registry.submit(account, { kind: "commit", commitment });
    await expect(under.registry.submit(account, { ...registration, endpoint: "https://other.example" })).rejects.toMatchObject(
      refused("NoCommitment"),
    );
    await under.registry.submit(account, registration);
    expect((await infoOf(agent)).active).toBe(true);
  });

  test("keeps every commitment of an account: a second does not replace the first (7)", async () => {
    const agent = await newAgent();
    const account = await accountOf(agent);
    await under.fund(account.address);
    const registration = await registrationOf(agent, under.registry);
    const commitment = await under.registry.commitmentOf(account.address, registration);
    await under.registry.submit(account, { kind: "commit", commitment });
    await under.registry.submit(account, { kind: "commit", commitment: `0x${"7".repeat(64)}` });
    await expect(under.registry.submit(account, { kind: "commit", commitment })).rejects.toMatchObject(
      refused("AlreadyCommitted"),
    );
    await under.registry.submit(account, registration);
    expect((await infoOf(agent)).active).toBe(true);
  });

  test("refuses a reveal more than 256 blocks after its commitment", { timeout: 60_000 }, async () => {
    const agent = await newAgent();
    const account = await accountOf(agent);
    await under.fund(account.address);
    const registration = await registrationOf(agent, under.registry);
    const commitment = await under.registry.commitmentOf(account.address, registration);
    await under.registry.submit(account, { kind: "commit", commitment });
    await under.pass(256);
    await expect(under.registry.submit(account, registration)).rejects.toMatchObject(refused("RevealTooLate"));
    await under.registry.submit(account, { kind: "commit", commitment });
    await under.registry.submit(account, registration);
    expect((await infoOf(agent)).active).toBe(true);
  });

  test("refuses an account key whose proof is by the account but for another key (8)", async () => {
    const [agent, victim] = [await newAgent(), await newAgent()];
    const account = await register(under, agent);
    const own = await provenKey(agent, account.key, under.registry.id, account.address);
    const [foreign] = victim.keys();
    const key = { ...own, name: "stolen", bytes: foreign?.bytes ?? new Uint8Array() };
    await expect(under.registry.submit(account, { kind: "addKey", key })).rejects.toMatchObject(refused("InvalidProof"));
    // The proof of its owner does not help either: it is for another account.
    const proof = (await provenKey(victim, foreign ?? account.key, under.registry.id, checkedSageDid(victim.did).account)).proof;
    await expect(under.registry.submit(account, { kind: "addKey", key: { ...key, proof } })).rejects.toMatchObject(
      refused("InvalidProof"),
    );
  });

  test("a key that only has 64 bytes for a proof is not accepted by readers (5)", async () => {
    const [agent, victim] = [await newAgent(), await newAgent()];
    const account = await register(under, agent);
    const foreign = victim.keys().filter(({ kind: each }) => each !== "secp256k1");
    for (const { kind: each, bytes } of foreign) {
      if (each !== "Ed25519" && each !== "X25519") continue;
      const key = { name: `stolen-${each}`, kind: each, bytes, proof: new Uint8Array(64).fill(7) };
      await under.registry.submit(account, { kind: "addKey", key });
    }
    const states = (await infoOf(agent)).keys.map(({ id, state }) => [id.split("#")[1], state]);
    expect(states.slice(3)).toEqual([
      ["stolen-Ed25519", "unproven"],
      ["stolen-X25519", "unproven"],
    ]);
  });

  test("a key can be registered by others who prove it: nobody can block a key (4, 7)", async () => {
    const [first, second] = [await newAgent(), await newAgent()];
    const account = await register(under, first);
    const { next, key } = await nextKey(first);
    // The stranger takes the key without a valid proof, then revokes it.
    const stranger = await register(under, second);
    await under.registry.submit(stranger, { kind: "addKey", key: { ...key, name: "taken" } });
    await under.registry.submit(stranger, { kind: "revoke", name: "taken" });
    await under.registry.submit(account, { kind: "addKey", key });
    expect((await infoOf(next)).keys.at(-1)).toMatchObject({ id: `${next.did}#${key.name}`, state: "accepted" });
    // Within one record a revoked key stays revoked, under any name.
    await under.registry.submit(account, { kind: "revoke", name: key.name });
    const again = { ...key, name: "again" };
    await expect(under.registry.submit(account, { kind: "addKey", key: again })).rejects.toMatchObject(refused("KeyExists"));
    await expect(under.registry.submit(account, { kind: "addKey", key: { ...again, name: key.name } })).rejects.toMatchObject(
      refused("NameTaken"),
    );
  });

  test("rotates in one step, with an overlap of at most 390 seconds", async () => {
    const agent = await newAgent();
    const account = await register(under, agent);
    const { key } = await nextKey(agent);
    const rotate = { kind: "rotate", old: "key-2", key, overlapSeconds: 390 } as const;
    await expect(under.registry.submit(account, { ...rotate, overlapSeconds: 391 })).rejects.toMatchObject(
      refused("OverlapTooLong"),
    );
    await expect(under.registry.submit(account, { ...rotate, old: "key-3" })).rejects.toMatchObject(refused("OtherKind"));
    await expect(under.registry.submit(account, { ...rotate, old: "key-9" })).rejects.toMatchObject(refused("UnknownKey"));
    await under.registry.submit(account, rotate);
    expect((await infoOf(agent)).keys.map(({ state }) => state)).toEqual(["accepted", "replaced", "accepted", "accepted"]);
    await expect(under.registry.submit(account, { ...rotate, key: { ...key, name: "b" } })).rejects.toMatchObject(
      refused("KeyOutOfUse"),
    );
    await under.wait(391);
    expect((await infoOf(agent)).keys.map(({ state }) => state)).toEqual(["accepted", "ended", "accepted", "accepted"]);
  });

  test("revokes a key of the own record only (2), at once, also a key for agreement (6)", async () => {
    const [agent, victim] = [await newAgent(), await newAgent()];
    const account = await register(under, agent);
    await register(under, victim);
    await expect(under.registry.submit(account, { kind: "revoke", name: "key-9" })).rejects.toMatchObject(refused("UnknownKey"));
    await under.registry.submit(account, { kind: "revoke", name: "key-3" });
    await under.registry.submit(account, { kind: "revoke", name: "key-2" });
    expect((await infoOf(agent)).keys.map(({ state }) => state)).toEqual(["accepted", "revoked", "revoked"]);
    expect((await infoOf(victim)).keys.map(({ state }) => state)).toEqual(["accepted", "accepted", "accepted"]);
    const { key } = await nextKey(agent, "X25519");
    await under.registry.submit(account, { kind: "addKey", key });
    expect((await infoOf(agent)).keys.filter(({ kind: each }) => each === "X25519").map(({ state }) => state)).toEqual([
      "revoked",
      "accepted",
    ]);
  });

  test("deactivates for ever: nobody brings the agent back (1)", async () => {
    const agent = await newAgent();
    const account = await register(under, agent);
    await under.registry.submit(account, { kind: "setEndpoint", endpoint: "https://new.example" });
    expect(await infoOf(agent)).toMatchObject({ endpoint: "https://new.example", version: 2 });
    await under.registry.submit(account, { kind: "deactivate" });
    expect(await infoOf(agent)).toMatchObject({ registered: true, active: false, version: 3 });
    const { key } = await nextKey(agent);
    const registration = await registrationOf(agent, under.registry);
    const later = [
      { kind: "addKey", key },
      { kind: "rotate", old: "key-2", key, overlapSeconds: 0 },
      { kind: "revoke", name: "key-2" },
      { kind: "setEndpoint", endpoint: "" },
      { kind: "deactivate" },
    ] as const;
    for (const operation of later)
      await expect(under.registry.submit(account, operation)).rejects.toMatchObject(refused("NotActive"));
    await under.registry.submit(account, {
      kind: "commit",
      commitment: await under.registry.commitmentOf(account.address, registration),
    });
    await expect(under.registry.submit(account, registration)).rejects.toMatchObject(refused("AlreadyRegistered"));
    expect((await infoOf(agent)).active).toBe(false);
  });

  test("has limits: names, keys, endpoints", { timeout: 60_000 }, async () => {
    const agent = await newAgent();
    const account = await register(under, agent);
    const { key } = await nextKey(agent);
    for (const name of ["", "a b", "#", "ä", "x".repeat(65)])
      await expect(under.registry.submit(account, { kind: "addKey", key: { ...key, name } })).rejects.toMatchObject(
        refused("InvalidName"),
      );
    await expect(
      under.registry.submit(account, { kind: "addKey", key: { ...key, bytes: new Uint8Array(31) } }),
    ).rejects.toMatchObject(refused("InvalidKey"));
    await expect(
      under.registry.submit(account, { kind: "setEndpoint", endpoint: `https://${"a".repeat(2_048)}` }),
    ).rejects.toMatchObject(refused("EndpointTooLong"));
    const count = (await infoOf(agent)).keys.length;
    for (let i = count; i < 64; i++)
      await under.registry.submit(account, {
        kind: "addKey",
        key: { name: `n${i}`, kind: "Ed25519", bytes: new Uint8Array(32).fill(i), proof: new Uint8Array(64) },
      });
    await expect(under.registry.submit(account, { kind: "addKey", key })).rejects.toMatchObject(refused("TooManyKeys"));
  });

  test("lists the accounts that changed", async () => {
    const agent = await newAgent();
    const { cursor } = await under.registry.changes();
    const account = await register(under, agent);
    const changes = await under.registry.changes(cursor);
    expect(changes.accounts).toEqual([account.address]);
    await under.registry.submit(account, { kind: "revoke", name: "key-2" });
    expect((await under.registry.changes(changes.cursor)).accounts).toEqual([account.address]);
  });
});
