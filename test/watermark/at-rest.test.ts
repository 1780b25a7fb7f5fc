import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openRedisStore, openSqliteStore, type Store } from "../../src/index.js";
import type { OpenContentSeal } from "../../src/public/stores.js";
import { batch, chunk, message, OWNER, shape, start, status } from "../helpers/stores/contract-samples.js";
import { storeKeyFolder } from "../helpers/stores/sealed.js";
import type { Watermark } from "../helpers/watermark.js";
import { type RedisServer, redisAvailable, startRedis } from "../redis-server.js";
import { newMark } from "./ways.js";

/** The files of a store, searched for a text that was put wherever a task has content. The same search finds it in a store in clear. */

const keys = storeKeyFolder();
const redisHere = await redisAvailable();

/** A task with the mark in everything that has content: messages, artifacts, a status, saved state, a snapshot, a webhook, a digest. */
async function write(store: Store, { text }: Watermark): Promise<void> {
  const first = start("t");
  const push = { id: "p", taskId: "t", url: `https://hook.example/${text}`, token: text };
  const key = { key: "k", digest: text, keepMs: 60_000 };
  const task = { ...first.task, history: [message(text)] };
  expect(await store.create({ ...first, task, push, key })).toMatchObject({ made: true });
  expect(await store.enqueue("t", OWNER, message(`asked ${text}`))).toBe("queued");
  const saved = { ...batch(1, 1, [chunk(text), status("working", text), chunk(text, true)]), state: { text } };
  expect(await store.append("t", saved)).toMatchObject({ ok: true });
  expect(await store.append("t", batch(1, 4, [chunk("more", true)]))).toMatchObject({ ok: true });
  // What was written is there: a search in files without it would prove nothing.
  expect(shape(await store.snapshot("t", OWNER))?.text).toBe(`${text}${text}more`);
  expect((await store.facts("t", OWNER))?.saved).toEqual({ text });
  expect(await store.pushes("t", OWNER)).toMatchObject([{ token: text }]);
}

async function filesBelow(folder: string): Promise<readonly string[]> {
  const found = await readdir(folder, { recursive: true, withFileTypes: true });
  return found.filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name));
}

async function sightings(folder: string, mark: Watermark, prefix = "") {
  const files = (await filesBelow(folder)).filter((path) => path.startsWith(join(folder, prefix)));
  const { forms, bytes } = await mark.inFiles(files);
  return { forms: [...forms], hasData: bytes > 1_000 };
}

const LIMITS = { entriesPerSnapshot: 2 };

describe("the files of a SQLite store, with its log", () => {
  async function written(name: string, seal: OpenContentSeal | undefined) {
    const mark = newMark();
    const store = await openSqliteStore({ file: join(keys.folder, `${name}.db`), now: Date.now, limits: LIMITS, seal });
    await write(store, mark);
    const open = await sightings(keys.folder, mark, `${name}.db`);
    await store.close?.();
    return [open, await sightings(keys.folder, mark, `${name}.db`)];
  }

  test("hold the mark if the store is not sealed", async () => {
    const found = { forms: ["utf-8"], hasData: true };
    expect(await written("clear", undefined)).toEqual([found, found]);
  });

  test("do not hold it if the store is sealed", async () => {
    const nothing = { forms: [], hasData: true };
    expect(await written("sealed", await keys.newSeal())).toEqual([nothing, nothing]);
  });
});

describe.skipIf(!redisHere)("the files of a Redis", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis({ appendfsync: "always" });
  });
  afterAll(() => server.stop());

  async function written(prefix: string, seal: OpenContentSeal | undefined) {
    const mark = newMark();
    const store = await openRedisStore({ url: server.url, prefix, limits: LIMITS, seal });
    await write(store, mark);
    await store.close?.();
    return [await sightings(server.folder, mark), [...(await mark.inMemory(server.pid)).forms]];
  }

  test("hold the mark if the store is not sealed, and so does its memory", async () => {
    expect(await written("clear", undefined)).toEqual([{ forms: ["utf-8"], hasData: true }, ["utf-8"]]);
  });

  test("do not hold it if the store is sealed, nor does its memory", async () => {
    expect(await written("sealed", await keys.newSeal())).toEqual([{ forms: [], hasData: true }, []]);
  });
});
