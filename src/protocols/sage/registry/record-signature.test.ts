import { beforeEach, expect, test, vi } from "vitest";
import { newAgent } from "../../../../test/sage/registries.js";
import type { LocalIdentity } from "../../../security/identity/index.js";
import { accountOf } from "../identity/account.js";
import { type SignedRecord, signerOf } from "./record-signature.js";

const counted = vi.hoisted(() => ({ verifications: 0 }));
vi.mock("../../../security/identity/index.js", async (original) => {
  const actual = await original<typeof import("../../../security/identity/index.js")>();
  return {
    ...actual,
    verifySignature: (...given: Parameters<typeof actual.verifySignature>) => {
      counted.verifications++;
      return actual.verifySignature(...given);
    },
  };
});
beforeEach(() => {
  counted.verifications = 0;
});

async function recordOf(identity: LocalIdentity, text: string): Promise<SignedRecord> {
  const { address: account, key, sign } = await accountOf(identity);
  const signed = Buffer.from(text);
  return { account, publicKey: key.bytes, signed, signature: await sign(signed) };
}

test("a record is verified once in a process, however often it is read", async () => {
  const record = await recordOf(await newAgent(), "one record");
  for (let time = 0; time < 3; time++) expect((await signerOf(record, undefined)).bytes).toEqual(record.publicKey);
  expect(counted.verifications).toBe(1);
});

test("the key of an account is one object for all of its records", async () => {
  const ann = await newAgent();
  const first = await signerOf(await recordOf(ann, "first"), undefined);
  expect(await signerOf(await recordOf(ann, "second"), first)).toBe(first);
});

test("what was valid is valid for nothing else", async () => {
  const [ann, mallory] = [await newAgent(), await newAgent()];
  const [record, foreign] = [await recordOf(ann, "mine"), await recordOf(mallory, "mine")];
  const key = await signerOf(record, undefined);
  await signerOf(foreign, undefined);
  const notOurs: readonly Partial<SignedRecord>[] = [
    { signed: Buffer.from("yours") },
    { account: foreign.account },
    { publicKey: foreign.publicKey },
    { signature: foreign.signature },
    { account: foreign.account, publicKey: foreign.publicKey },
    { publicKey: foreign.publicKey, signature: foreign.signature },
  ];
  for (const change of notOurs)
    for (const known of change.account === undefined ? [undefined, key] : [undefined])
      await expect(signerOf({ ...record, ...change }, known)).rejects.toThrow("it is not signed by its account");
});

test("a record that is refused stays refused", async () => {
  const record = { ...(await recordOf(await newAgent(), "refused")), signed: Buffer.from("changed") };
  for (let time = 0; time < 2; time++)
    await expect(signerOf(record, undefined)).rejects.toThrow("it is not signed by its account");
});
