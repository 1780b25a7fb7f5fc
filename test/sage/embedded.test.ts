import { beforeEach, describe, expect, test } from "vitest";
import { recordsBelow } from "../../src/envelope/index.js";
import { accountOf } from "../../src/protocols/sage/identity/account.js";
import { DidCache } from "../../src/protocols/sage/identity/did-cache.js";
import { EmbeddedRegistry } from "../../src/protocols/sage/registry/embedded.js";
import { toHex, writeOperation } from "../../src/protocols/sage/registry/operations.js";
import type { NewKey, Operation } from "../../src/protocols/sage/registry/registry.js";
import type { LocalIdentity } from "../../src/security/identity/index.js";
import { canonicalJson } from "../../src/security/json-canonical.js";
import { taskLimits } from "../../src/tasks/limits.js";
import { MemoryRecords } from "../../src/tasks/stores/memory-records.js";
import { newAgent, register, registrationOf } from "./registries.js";

/** What a log does with records that only their own account could make. */

const NOW = 1_800_000_000_000;
const newRecords = () => recordsBelow(new MemoryRecords(taskLimits(), Date.now), "sage");
let records = newRecords();
beforeEach(() => {
  records = newRecords();
});
const open = () => new EmbeddedRegistry(records, { network: "local", now: () => NOW });

/** A record with a valid signature, whatever it says. */
async function addSigned(record: number, identity: LocalIdentity, operation: Operation): Promise<void> {
  const { address: account, key, sign } = await accountOf(identity);
  const content = { registry: "embedded:local", record, account, operation: writeOperation(operation), time: NOW };
  const signature = toHex(await sign(Buffer.from(`koine-sage-record|1\n${canonicalJson(content)}`)));
  const { registry: _, record: __, ...entry } = content;
  await records.add(`log/local/${String(record).padStart(9, "0")}`, { ...entry, publicKey: toHex(key.bytes), signature });
}

test("an account that records what it must not is refused, and no other one", async () => {
  const [ann, mallory] = [await newAgent(), await newAgent()];
  const [{ address: annAddress }, { address: malloryAddress }] = [await accountOf(ann), await accountOf(mallory)];
  await register({ registry: open(), fund: async () => undefined }, ann);
  await addSigned(3, mallory, { kind: "deactivate" }); // it is not registered
  const reader = open();
  expect(await reader.read(annAddress)).toMatchObject({ account: annAddress, state: "active", version: 1 });
  for (let time = 0; time < 2; time++)
    await expect(reader.read(malloryAddress)).rejects.toMatchObject({ reason: "record.invalid", message: /record 3 / });
  // The log goes on after it.
  await reader.submit(await accountOf(ann), { kind: "setEndpoint", endpoint: "https://ann.example" });
  expect(await open().read(annAddress)).toMatchObject({ endpoint: "https://ann.example", version: 2 });
  expect(await reader.changes(2)).toEqual({ accounts: [malloryAddress, annAddress], cursor: 4 });
});

describe("proofs of keys in a recorded registration", () => {
  const WRONG = new Uint8Array(65).fill(1);

  /** A registration with other keys, recorded with its commitment past the checks of a submission. */
  async function recorded(identity: LocalIdentity, change: (keys: readonly NewKey[]) => readonly NewKey[]): Promise<void> {
    const registration = await registrationOf(identity, open());
    const changed = { ...registration, keys: change(registration.keys) };
    const { address } = await accountOf(identity);
    await addSigned(1, identity, { kind: "commit", commitment: await open().commitmentOf(address, changed) });
    await addSigned(2, identity, changed);
  }
  const isAccountKey = ({ kind }: NewKey) => kind === "secp256k1";
  const statesOf = async ({ did }: LocalIdentity) =>
    (await new DidCache({ registries: [open()] }).getAgentInfo(did)).keys.map(({ kind, state }) => [kind, state]);

  test("the account's own key is proven by the record that it signed", async () => {
    const ann = await newAgent();
    await recorded(ann, (keys) => keys.map((key) => (isAccountKey(key) ? { ...key, proof: WRONG } : key)));
    expect(await statesOf(ann)).toEqual([
      ["secp256k1", "accepted"],
      ["Ed25519", "accepted"],
      ["X25519", "accepted"],
    ]);
  });

  test("the same key is refused where it is not recorded yet, as by a chain", async () => {
    const ann = await newAgent();
    const account = await accountOf(ann);
    const registration = await registrationOf(ann, open());
    const changed = {
      ...registration,
      keys: registration.keys.map((key) => (isAccountKey(key) ? { ...key, proof: WRONG } : key)),
    };
    const registry = open();
    await registry.submit(account, { kind: "commit", commitment: await registry.commitmentOf(account.address, changed) });
    await expect(registry.submit(account, changed)).rejects.toMatchObject({ reason: "InvalidProof" });
  });

  test("the account key of somebody else is not", async () => {
    const [ann, mallory] = [await newAgent(), await newAgent()];
    const { key } = await accountOf(ann);
    await recorded(mallory, (keys) => [...keys, { name: "taken", kind: "secp256k1", bytes: key.bytes, proof: WRONG }]);
    await expect(open().read((await accountOf(mallory)).address)).rejects.toMatchObject({ reason: "record.invalid" });
  });

  test("other keys of the account are not", async () => {
    const ann = await newAgent();
    const proof = new Uint8Array(64).fill(1);
    await recorded(ann, (keys) => keys.map((key) => (isAccountKey(key) ? key : { ...key, proof })));
    expect(await statesOf(ann)).toEqual([
      ["secp256k1", "accepted"],
      ["Ed25519", "unproven"],
      ["X25519", "unproven"],
    ]);
  });
});
