import { generateKeyPairSync, sign } from "node:crypto";
import { expect, test, vi } from "vitest";
import { verifyMany } from "./verify-many.js";

vi.mock("node:worker_threads", () => ({
  Worker: class {
    constructor() {
      throw new Error("threads are not permitted");
    }
  },
}));

test("a process that may have no threads verifies by itself", async () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const base = Buffer.from("message");
  const valid = { key: publicKey, base, signature: sign(null, base, privateKey) };
  const changed = { ...valid, base: Buffer.from("massage") };
  for (let batch = 0; batch < 2; batch++) expect(await verifyMany([valid, changed, valid], true)).toEqual([true, false, true]);
});
