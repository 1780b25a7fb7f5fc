import { expect, test } from "vitest";
import { recordsBelow } from "../../src/envelope/index.js";
import { accountOf } from "../../src/protocols/sage/identity/account.js";
import { EmbeddedRegistry } from "../../src/protocols/sage/registry/embedded.js";
import { toHex, writeOperation } from "../../src/protocols/sage/registry/operations.js";
import type { Operation } from "../../src/protocols/sage/registry/registry.js";
import type { LocalIdentity } from "../../src/security/identity/index.js";
import { canonicalJson } from "../../src/security/json-canonical.js";
import { taskLimits } from "../../src/tasks/limits.js";
import { MemoryRecords } from "../../src/tasks/stores/memory-records.js";
import { newAgent, register } from "./registries.js";

/** What a log does with records that only their own account could make. */

const NOW = 1_800_000_000_000;
const records = recordsBelow(new MemoryRecords(taskLimits(), Date.now), "sage");
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
