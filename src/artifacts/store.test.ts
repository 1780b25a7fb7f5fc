import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openDiskArtifacts } from "./disk-store.js";
import { createMemoryArtifacts } from "./memory-store.js";
import type { ArtifactInfo, ArtifactStore, ByteRange, StoreOptions } from "./store.js";

const LIMITS = { artifactBytes: 100, artifactsPerOwner: 3, totalBytes: 250, keepMs: 1_000 };
let root: string;
let folder: string;
let now: number;
let ids: number;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "koine-artifacts-"));
});
afterAll(() => rm(root, { recursive: true }));
beforeEach(() => {
  now = 1_000_000;
  ids = 0;
  folder = join(root, Math.random().toString(36).slice(2));
});

const options = (): StoreOptions => ({ limits: LIMITS, now: () => now, newId: () => `id-${++ids}` });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield bytes(text);
}

async function content(store: ArtifactStore, info: ArtifactInfo, range?: ByteRange): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of store.read(info, range)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

const STORES: readonly (readonly [string, () => Promise<ArtifactStore>])[] = [
  ["memory", async () => createMemoryArtifacts(options())],
  ["disk", () => openDiskArtifacts(folder, options())],
];

for (const [kind, open] of STORES)
  describe(`artifacts in ${kind}`, () => {
    test("return stored content with size and digest", async () => {
      const store = await open();
      const info = await store.put(bytes("abc"), { owner: "o", mediaType: "text/plain", name: "a.txt" });
      expect(info).toEqual({
        id: "id-1",
        owner: "o",
        mediaType: "text/plain",
        name: "a.txt",
        bytes: 3,
        // FIPS 180-4, the example "abc"
        sha256: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        expiresAt: 1_001_000,
      });
      expect(await store.find("id-1")).toEqual(info);
      expect(await content(store, info)).toBe("abc");
    });

    test("accept a stream, and empty content", async () => {
      const store = await open();
      const streamed = await store.put(pieces("a", "", "bc"), { owner: "o" });
      expect(streamed.sha256).toBe("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
      expect(await content(store, streamed)).toBe("abc");
      const empty = await store.put(new Uint8Array(0), { owner: "o" });
      expect(empty).toMatchObject({
        bytes: 0,
        sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
      });
      expect(await content(store, empty)).toBe("");
    });

    test("read by range", async () => {
      const store = await open();
      const info = await store.put(bytes("0123456789"), { owner: "o" });
      expect(await content(store, info, { start: 0, end: 1 })).toBe("0");
      expect(await content(store, info, { start: 3, end: 10 })).toBe("3456789");
      expect(await content(store, info, { start: 5, end: 5 })).toBe("");
    });

    test("do not change with the buffer they came in", async () => {
      const store = await open();
      const buffer = bytes("abc");
      const info = await store.put(buffer, { owner: "o" });
      buffer.fill(0);
      expect(await content(store, info)).toBe("abc");
    });

    test("have a size limit, which a stream meets at its first byte too many", async () => {
      const store = await open();
      let taken = 0;
      async function* endless(): AsyncGenerator<Uint8Array> {
        for (;;) {
          taken++;
          yield new Uint8Array(30);
        }
      }
      await expect(store.put(endless(), { owner: "o" })).rejects.toMatchObject({ code: "too_large" });
      expect(taken).toBe(4);
      await expect(store.put(new Uint8Array(101), { owner: "o" })).rejects.toMatchObject({ code: "too_large" });
      expect(await store.put(new Uint8Array(100), { owner: "o" })).toMatchObject({ bytes: 100 });
    });

    test("are limited per owner and in total, and deletion frees capacity", async () => {
      const store = await open();
      for (let each = 0; each < 3; each++) await store.put(new Uint8Array(10), { owner: "o" });
      await expect(store.put(new Uint8Array(1), { owner: "o" })).rejects.toMatchObject({ code: "overloaded" });
      await store.put(new Uint8Array(100), { owner: "p" });
      await store.put(new Uint8Array(100), { owner: "p" });
      await expect(store.put(new Uint8Array(30), { owner: "p" })).rejects.toMatchObject({ code: "overloaded" });
      expect(await store.delete("id-1")).toBe(true);
      expect(await store.delete("id-1")).toBe(false);
      expect(await store.put(new Uint8Array(30), { owner: "p" })).toMatchObject({ bytes: 30 });
      expect(await store.put(new Uint8Array(0), { owner: "o" })).toMatchObject({ bytes: 0 });
    });

    test("end, and make room by that", async () => {
      const store = await open();
      await store.put(new Uint8Array(100), { owner: "o" });
      now += 500;
      await store.put(new Uint8Array(100), { owner: "o" });
      now += 500;
      expect(await store.find("id-1")).toBeUndefined();
      expect(await store.find("id-2")).toBeDefined();
      await store.put(new Uint8Array(100), { owner: "o" });
      now += 1_000;
      expect(await store.sweep()).toBe(2);
      expect(await store.sweep()).toBe(0);
    });

    test("leave nothing of a stream that failed", async () => {
      const store = await open();
      async function* broken(): AsyncGenerator<Uint8Array> {
        yield bytes("half");
        throw new Error("cut");
      }
      await expect(store.put(broken(), { owner: "o" })).rejects.toThrow("cut");
      expect(await store.find("id-1")).toBeUndefined();
      for (let each = 0; each < 3; each++) await store.put(new Uint8Array(1), { owner: "o" });
    });

    test("are not found by an id that is none", async () => {
      const store = await open();
      for (const id of ["", "nobody", "../../etc/passwd", "..%2f", "a/b", "a\0", "x".repeat(200), "__proto__"]) {
        expect(await store.find(id)).toBeUndefined();
        expect(await store.delete(id)).toBe(false);
      }
    });

    test("refuse a used id", async () => {
      const store = await open();
      await store.put(bytes("a"), { owner: "o" });
      ids = 0;
      await expect(store.put(bytes("b"), { owner: "o" })).rejects.toMatchObject({ code: "internal" });
    });
  });

describe("a folder of artifacts", () => {
  test("survives its process, limits included", async () => {
    const before = await openDiskArtifacts(folder, options());
    const info = await before.put(bytes("abc"), { owner: "o", name: "ä/..\\x" });
    await before.put(new Uint8Array(1), { owner: "o" });
    await before.put(new Uint8Array(1), { owner: "o" });
    const after = await openDiskArtifacts(folder, options());
    expect(await after.find("id-1")).toEqual(info);
    expect(await content(after, info)).toBe("abc");
    await expect(after.put(new Uint8Array(1), { owner: "o" })).rejects.toMatchObject({ code: "overloaded" });
    now += 1_000;
    await openDiskArtifacts(folder, options());
    expect(await readdir(folder)).toEqual([]);
  });

  test("is shared by processes", async () => {
    const reader = await openDiskArtifacts(folder, options());
    const writer = await openDiskArtifacts(folder, options());
    const info = await writer.put(bytes("abc"), { owner: "o" });
    expect(await reader.find(info.id)).toEqual(info);
  });

  test("has no partial artifacts after a crash", async () => {
    await mkdir(folder);
    const old = new Date(0);
    const write = async (name: string, text: string, at?: Date): Promise<void> => {
      await writeFile(join(folder, name), text);
      if (at !== undefined) await utimes(join(folder, name), at, at);
    };
    now = Date.now();
    await write("a.part", "old", old);
    await write("b.bin", "no record", old);
    await write("c.part", "being written");
    await write("d.json", '{"id":"d","owner"', old);
    await write("e.json", '{"id":"x","owner":"o","bytes":1,"sha256":"00","expiresAt":9e15}', old);
    await write("readme", "not ours", old);
    const store = await openDiskArtifacts(folder, options());
    expect((await readdir(folder)).sort()).toEqual(["c.part", "d.json", "e.json", "readme"]);
    for (const id of ["a", "b", "c", "d", "e", "x"]) expect(await store.find(id)).toBeUndefined();
  });

  test("leaves no files after a rejected artifact", async () => {
    const store = await openDiskArtifacts(folder, options());
    await expect(store.put(pieces("x".repeat(60), "x".repeat(60)), { owner: "o" })).rejects.toMatchObject({ code: "too_large" });
    expect(await readdir(folder)).toEqual([]);
  });
});
