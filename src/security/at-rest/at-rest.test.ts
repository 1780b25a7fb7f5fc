import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { storeKeyFolder } from "../../../test/helpers/stores/sealed.js";
import { StoreSeal } from "./content-seal.js";
import vectors from "./fixtures/sealed-texts.json" with { type: "json" };
import { createStoreKeys, openStoreSeal, readStoreKeys, rotateStoreKeys } from "./index.js";
import { READ_AGAIN_MS, USED_AFTER_MS } from "./store-keys.js";

const keys = storeKeyFolder();
const SUBJECT = { owner: "o", taskId: "t" };

afterEach(() => void vi.useRealTimers());

test("seals texts as the second implementation does, and opens them", () => {
  const key = { id: vectors.id, secret: Buffer.from(vectors.secret, "base64url") };
  const seal = new StoreSeal(() => ({ current: key, first: key, find: (id) => (id === key.id ? key : undefined) }), {
    source: "f",
  });
  for (const { owner, taskId, place, text, sealed } of vectors.texts) {
    expect(seal.seal(text, { owner, taskId }, place)).toBe(sealed);
    expect(seal.open(sealed, { owner, taskId }, place)).toBe(text);
  }
  expect(seal.digest(vectors.digest.text)).toBe(vectors.digest.digest);
});

test("a file of keys is for its owner alone, and is not overwritten", async () => {
  const file = await keys.newFile();
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await expect(createStoreKeys(file)).rejects.toThrow(`${file} exists; it is not overwritten`);
  chmodSync(file, 0o644);
  await expect(readStoreKeys(file)).rejects.toThrow(/can be read or changed by other users; run: chmod 600/);
});

test.each([
  ["no JSON", "{", "it is not JSON"],
  ["another format", '{"format":"koine-identity-1"}', 'format must be "koine-store-keys-1"'],
  ["no keys", '{"format":"koine-store-keys-1","keys":[]}', "keys must be 1 to 64 keys"],
  [
    "a short key",
    '{"format":"koine-store-keys-1","keys":[{"id":"a","created":"2026-01-01T00:00:00Z","secret":"c2VjcmV0"}]}',
    "keys[0].secret must have 32 bytes",
  ],
  [
    "a wrong name",
    `{"format":"koine-store-keys-1","keys":[{"id":"a","created":"2026-01-01T00:00:00Z","secret":"${vectors.secret}"}]}`,
    "keys[0].id is not the id of this key",
  ],
])("a file with %s is refused, and never shown", async (name, content, problem) => {
  const file = join(keys.folder, `${name}.store-keys`);
  writeFileSync(file, content, { mode: 0o600 });
  const error = await readStoreKeys(file).catch((thrown: Error) => thrown.message);
  expect(error).toContain(`is not a file of store keys: ${problem}`);
  expect(error).not.toContain("c2VjcmV0");
  expect(error).not.toContain(vectors.secret);
});

test("a new key is read without a restart, and used when every process has read it", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date"] });
  const file = await keys.newFile();
  const [writer, reader] = [await openStoreSeal(file)(false), await openStoreSeal(file)(true)];
  const [oldKey, newKey] = (await rotateStoreKeys(file)).list().map(({ id }) => id);
  const keyOf = (text: string) => text.split(".")[1];
  expect(keyOf(writer.seal("text", SUBJECT, "p"))).toBe(oldKey);
  await vi.advanceTimersByTimeAsync(READ_AGAIN_MS);
  await vi.advanceTimersByTimeAsync(USED_AFTER_MS - READ_AGAIN_MS - 1);
  expect(keyOf(writer.seal("text", SUBJECT, "p"))).toBe(oldKey);
  await vi.advanceTimersByTimeAsync(1);
  await vi.waitFor(() => expect(keyOf(writer.seal("text", SUBJECT, "p"))).toBe(newKey), 15_000);
  await vi.waitFor(() => expect(reader.open(writer.seal("text", SUBJECT, "p"), SUBJECT, "p")).toBe("text"), 15_000);
  writer.close();
  reader.close();
  expect(vi.getTimerCount()).toBe(0);
});

test("a file that cannot be read again is reported, and its keys stay in use", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  const file = await keys.newFile();
  const problems: string[] = [];
  const seal = await openStoreSeal(file, { onProblem: ({ message }) => problems.push(message) })(false);
  const sealed = seal.seal("text", SUBJECT, "p");
  writeFileSync(file, "{");
  await vi.advanceTimersByTimeAsync(READ_AGAIN_MS);
  await vi.waitFor(() => expect(problems).toHaveLength(1), 15_000);
  expect(seal.open(sealed, SUBJECT, "p")).toBe("text");
  seal.close();
});

test("rotation keeps the old keys, and is refused while another one is under way", async () => {
  const file = await keys.newFile();
  const before = JSON.parse(readFileSync(file, "utf8"));
  await rotateStoreKeys(file);
  const after = JSON.parse(readFileSync(file, "utf8"));
  expect(after.keys.slice(0, 1)).toEqual(before.keys);
  expect(after.keys).toHaveLength(2);
  writeFileSync(`${file}.lock`, "");
  await expect(rotateStoreKeys(file)).rejects.toThrow(`${file} is being changed by another process`);
});
