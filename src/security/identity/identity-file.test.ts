import { chmod, link, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { PYTHON_KEYS } from "../../../test/helpers/key-vectors.js";
import { changeIdentity, openIdentity, writeNewIdentity } from "./identity-file.js";
import { createIdentity } from "./local-identity.js";

const DID = "did:web:agent.example";
const text = new TextEncoder().encode("hello");
let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "koine-identity-"));
  file = join(folder, "keys", "support.json");
});
afterEach(() => rm(folder, { recursive: true }));

const fresh = () => createIdentity({ name: "support", did: DID, now: () => 1_000 });
const modeOf = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

describe("identity files", () => {
  test("are written for their owner only, and loaded with all keys", async () => {
    const identity = fresh();
    await writeNewIdentity(file, identity);
    expect([await modeOf(file), await modeOf(join(folder, "keys"))]).toEqual(["600", "700"]);
    const loaded = await openIdentity(file);
    expect({ name: loaded.name, did: loaded.did }).toEqual({ name: "support", did: DID });
    expect(loaded.keys().map(({ id, kind }) => [id, kind])).toEqual(identity.keys().map(({ id, kind }) => [id, kind]));
    expect(await loaded.sign(`${DID}#key-1`, text)).toEqual(await identity.sign(`${DID}#key-1`, text));
    expect(await readdir(join(folder, "keys"))).toEqual(["support.json"]);
  });

  test("are not overwritten, and nothing is left behind", async () => {
    await writeNewIdentity(file, fresh());
    const before = await readFile(file, "utf8");
    await expect(writeNewIdentity(file, fresh())).rejects.toMatchObject({ code: "conflict" });
    expect(await readFile(file, "utf8")).toBe(before);
    expect(await readdir(join(folder, "keys"))).toEqual(["support.json"]);
  });

  test("keep the history; the private halves of rotated and revoked keys are gone from the disk", async () => {
    await writeNewIdentity(file, fresh());
    const secret =
      String(fresh.length) &&
      (JSON.parse(await readFile(file, "utf8")) as { keys: { privateKey: { d: string } }[] }).keys[0]?.privateKey.d;
    await changeIdentity(
      file,
      (identity) => identity.rotated({ overlapMs: 5_000, kinds: ["Ed25519"] }),
      () => 2_000,
    );
    await changeIdentity(
      file,
      (identity) => identity.revoked(`${DID}#key-2`),
      () => 3_000,
    );
    const loaded = await openIdentity(file, () => 4_000);
    expect(
      loaded.history().map(({ id, rotated, expires, revoked, hasPrivate }) => [id, rotated, expires, revoked, hasPrivate]),
    ).toEqual([
      [`${DID}#key-1`, 2_000, 7_000, undefined, false],
      [`${DID}#key-2`, undefined, undefined, 3_000, false],
      [`${DID}#key-3`, undefined, undefined, undefined, true],
    ]);
    expect(await readFile(file, "utf8")).not.toContain(secret);
    expect(await modeOf(file)).toBe("600");
    expect(await readdir(join(folder, "keys"))).toEqual(["support.json"]);
  });

  test("are not changed by two processes at once, nor by a change that fails", async () => {
    await writeNewIdentity(file, fresh());
    const before = await readFile(file, "utf8");
    await writeFile(`${file}.lock`, "");
    await expect(changeIdentity(file, (identity) => identity)).rejects.toMatchObject({
      code: "conflict",
      message: expect.stringContaining(`delete ${file}.lock`),
    });
    await rm(`${file}.lock`);
    await expect(changeIdentity(file, (identity) => identity.revoked("did:web:x#1"))).rejects.toMatchObject({
      code: "not_found",
    });
    expect(await readFile(file, "utf8")).toBe(before);
    expect(await readdir(join(folder, "keys"))).toEqual(["support.json"]);
  });
});

describe("refused are", () => {
  beforeEach(() => writeNewIdentity(file, fresh()));
  const refusal = (part: string) => expect.objectContaining({ message: expect.stringContaining(part) });

  test.each([0o640, 0o604, 0o620, 0o666])("a file of mode %o", async (mode) => {
    await chmod(file, mode);
    await expect(openIdentity(file)).rejects.toEqual(refusal(`run: chmod 600 ${file}`));
  });

  test("a folder that others can open", async () => {
    await chmod(join(folder, "keys"), 0o755);
    await expect(openIdentity(file)).rejects.toEqual(refusal(`run: chmod 700 ${join(folder, "keys")}`));
    await expect(writeNewIdentity(join(folder, "keys", "b.json"), fresh())).rejects.toEqual(refusal("chmod 700"));
  });

  test("symbolic links, folders and what does not exist", async () => {
    const other = join(folder, "keys", "link.json");
    await symlink(file, other);
    await expect(openIdentity(other)).rejects.toEqual(refusal("is a symbolic link; name the file itself"));
    await mkdir(join(folder, "keys", "sub"), { mode: 0o700 });
    await expect(openIdentity(join(folder, "keys", "sub"))).rejects.toEqual(refusal("is not a file"));
    await expect(openIdentity(join(folder, "keys", "none.json"))).rejects.toEqual(refusal("does not exist; create it"));
    await link(file, join(folder, "keys", "hard.json"));
    expect((await openIdentity(join(folder, "keys", "hard.json"))).did).toBe(DID);
  });

  const SECRET = PYTHON_KEYS.Ed25519.jwk.d;
  const key = (more: object = {}) => ({
    id: `${DID}#key-1`,
    uses: ["assertion"],
    created: "2026-11-17T08:00:00Z",
    privateKey: PYTHON_KEYS.Ed25519.jwk,
    ...more,
  });
  const whole = (more: object = {}) =>
    JSON.stringify({ format: "koine-identity-1", name: "support", did: DID, keys: [key()], ...more });
  test.each([
    ["what is not JSON", `{"d":"${SECRET}"`, "it is not JSON"],
    ["an empty file", "", "it is not JSON"],
    ["a huge file", `"${"x".repeat(200_000)}"`, "the limit is 131072"],
    ["another format", whole({ format: "other" }), "format must be"],
    ["no keys", whole({ keys: [] }), "1 to 64 keys"],
    ["a DID that is none", whole({ did: "agent" }), "not a DID"],
    ["a key of another DID", whole({ did: "did:web:other.example" }), "keys[0].id is not a key of this DID"],
    ["two keys with one id", whole({ keys: [key(), key()] }), "two keys with one id"],
    ["an absurd date", whole({ keys: [key({ created: "yesterday" })] }), "keys[0].created"],
    [
      "a damaged key",
      whole({ keys: [key({ privateKey: { ...PYTHON_KEYS.Ed25519.jwk, x: "AAAA" } })] }),
      "keys[0] is not a valid key",
    ],
    [
      "a revoked key with its private half",
      whole({ keys: [key({ revoked: "2026-11-17T08:00:00Z" })] }),
      "is revoked, but has a private key",
    ],
    ["a use that does not fit", whole({ keys: [key({ uses: ["agreement"] })] }), "do not fit a Ed25519 key"],
    ["an unknown use", whole({ keys: [key({ uses: ["all"] })] }), "keys[0].uses[0]"],
  ])("%s", async (_, content, problem) => {
    await writeFile(file, content);
    const error = await openIdentity(file).catch((thrown: Error) => thrown);
    expect(error).toEqual(refusal(problem));
    expect(`${(error as Error).message}${(error as Error).stack}`).not.toContain(SECRET);
  });
});
