import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { CancelSource, recordsBelow } from "../../src/envelope/index.js";
import { createResolver, openIdentity } from "../../src/security/identity/index.js";
import { createMemoryStore } from "../../src/tasks/index.js";
import { sage } from "./world.js";

const folder = mkdtempSync(join(tmpdir(), "koine-sage-"));
afterAll(() => rmSync(folder, { recursive: true }));

test("an identity that the protocol makes is resolved by peers with the same records, and by no others", async () => {
  const [records, others] = [0, 1].map(() => recordsBelow(createMemoryStore({ now: Date.now }).records, "sage"));
  if (records === undefined || others === undefined) throw new Error("no records");
  const file = join(folder, "desk.json");
  await sage.createIdentity?.(file, { endpoint: "http://127.0.0.1:4711", records });
  const { did, name } = await openIdentity(file);
  expect([did, name]).toEqual([expect.stringMatching(/^did:sage:local:0x[0-9a-f]{40}$/), "desk"]);
  const resolver = createResolver({ methods: sage.didMethods?.(undefined, records) });
  const { document } = await resolver.resolve(did, new CancelSource());
  expect(document.services.map(({ url }) => url)).toEqual(["http://127.0.0.1:4711"]);
  expect(document.keys.map(({ kind }) => kind).sort()).toEqual(["Ed25519", "X25519", "secp256k1"]);
  const stranger = createResolver({ methods: sage.didMethods?.(undefined, others) });
  await expect(stranger.resolve(did, new CancelSource())).rejects.toMatchObject({ code: "not_found" });
});
