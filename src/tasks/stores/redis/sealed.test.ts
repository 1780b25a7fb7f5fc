import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { batch, chunk, message, OWNER, shape, start, status } from "../../../../test/helpers/stores/contract-samples.js";
import { storeKeyFolder } from "../../../../test/helpers/stores/sealed.js";
import { storeContract } from "../../../../test/helpers/stores/store-contract.js";
import { type RedisServer, redisAvailable, startRedis } from "../../../../test/redis-server.js";
import { openStoreSeal } from "../../../security/at-rest/index.js";
import type { TaskLimits } from "../../limits.js";
import type { Store } from "../../store.js";
import { openRedisStore, type RedisStoreOptions } from "../redis.js";
import { KeyNames } from "./keys.js";

const available = await redisAvailable();
const keys = storeKeyFolder();

describe.skipIf(!available)("a sealed Redis store", () => {
  let server: RedisServer;
  let prefixes = 0;
  const opened: Store[] = [];

  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(async () => {
    await Promise.all(opened.map((store) => store.close?.()));
    await server.stop();
  });

  async function open(options: Omit<RedisStoreOptions, "url">) {
    const store = await openRedisStore({ url: server.url, ...options });
    opened.push(store);
    return store;
  }

  async function makeStore(limits: Partial<TaskLimits>) {
    let nowMs = 1_000;
    prefixes += 1;
    const store = await open({ prefix: `sealed-${prefixes}`, limits, testClock: () => nowMs, seal: await keys.newSeal() });
    return {
      store,
      advance(ms: number) {
        nowMs += ms;
      },
    };
  }

  for (const requirement of storeContract) {
    test(`contract: ${requirement.name}`, async () => {
      expect(await requirement.check(makeStore)).toBeUndefined();
    });
  }

  test("keeps the order of messages that arrive at the same time", async () => {
    const { store } = await makeStore({ inputsPerTask: 100 });
    await store.create(start("t"));
    const texts = Array.from({ length: 20 }, (_, index) => `m${index}`);
    expect(await Promise.all(texts.map((text) => store.enqueue("t", OWNER, message(text))))).toEqual(texts.map(() => "queued"));
    const history = shape(await store.snapshot("t", OWNER))?.history ?? [];
    expect([...history].sort()).toEqual(["hello", ...texts].sort());
  });

  /** Changes the store as somebody would who can write to Redis, and has no key. */
  async function changed(change: (redis: Redis, keysOf: (owner: string, kind: string) => string) => Promise<unknown>) {
    const { store } = await makeStore({});
    await store.create({ ...start("t"), push: { id: "p", taskId: "t", url: "https://hook.example/" } });
    await store.enqueue("t", OWNER, message("one"));
    await store.enqueue("t", OWNER, message("two"));
    await store.append("t", { ...batch(1, 1, [chunk("a"), chunk("b", true)]), state: { step: 1 } });
    const redis = new Redis(server.url);
    const names = new KeyNames(`sealed-${prefixes}`);
    const KINDS: readonly string[] = ["columns", "journal", "heard", "pushes", "snapshot"];
    try {
      await change(redis, (owner, kind) => names.ofTask(owner, "t").all[KINDS.indexOf(kind)] ?? "");
    } finally {
      redis.disconnect();
    }
    return store;
  }

  const swap = async (redis: Redis, list: string, one: number, other: number) => {
    const [first, second] = [await redis.lindex(list, one), await redis.lindex(list, other)];
    await redis.lset(list, one, second ?? "");
    await redis.lset(list, other, first ?? "");
  };
  const CHANGED = "content of task t in the task store was changed, or is not in its place: it is refused";
  const flipped = (text: string | null) => `${text?.slice(0, -1)}${text?.endsWith("A") ? "Q" : "A"}`;

  test.each<
    [string, (redis: Redis, key: (kind: string) => string) => Promise<unknown>, (store: Store) => Promise<unknown>, string]
  >([
    [
      "entries in another order",
      (redis, key) => swap(redis, key("journal"), 1, 2),
      async (store) => store.read("t", OWNER, 0, 10),
      CHANGED,
    ],
    [
      "messages in another order",
      (redis, key) => swap(redis, key("heard"), 0, 1),
      (store) => store.snapshot("t", OWNER),
      CHANGED,
    ],
    [
      "a byte of an entry",
      async (redis, key) => redis.lset(key("journal"), 1, flipped(await redis.lindex(key("journal"), 1))),
      async (store) => store.read("t", OWNER, 0, 10),
      CHANGED,
    ],
    [
      "a byte of the saved state",
      async (redis, key) => redis.hset(key("columns"), "saved", flipped(await redis.hget(key("columns"), "saved"))),
      (store) => store.facts("t", OWNER),
      CHANGED,
    ],
    [
      "a webhook in clear",
      (redis, key) => redis.hset(key("pushes"), "c:p", '{"id":"p","taskId":"t","url":"https://eve.example/"}'),
      (store) => store.pushes("t", OWNER),
      "content of task t in the task store is not sealed: it is refused",
    ],
    [
      "an entry that is gone",
      (redis, key) => redis.rpop(key("journal")),
      (store) => store.snapshot("t", OWNER),
      "content of task t in the task store has 2 entries where 3 were written: it is refused",
    ],
  ])("refuses and counts %s", async (_, change, ask, words) => {
    const store = await changed((redis, keysOf) => change(redis, (kind) => keysOf(OWNER, kind)));
    await expect(ask(store)).rejects.toThrow(words);
    expect(store.refusedContent).toBe(1);
  });

  test("does not show a task to another owner, to whom somebody copied it", async () => {
    const store = await changed(async (redis, keysOf) => {
      for (const kind of ["columns", "journal", "heard"]) await redis.copy(keysOf(OWNER, kind), keysOf("key:eve", kind));
    });
    await expect(store.snapshot("t", "key:eve")).rejects.toThrow(CHANGED);
  });

  test("is opened by replicas with the same file of keys only", async () => {
    const [file, other] = [await keys.newFile(), await keys.newFile()];
    const first = await open({ prefix: "shared", seal: openStoreSeal(file) });
    await first.create(start("t"));
    const second = await open({ prefix: "shared", seal: openStoreSeal(file) });
    expect(shape(await second.snapshot("t", OWNER))?.history).toEqual(["hello"]);
    await expect(open({ prefix: "shared", seal: openStoreSeal(other) })).rejects.toThrow(
      /^the task store is sealed with the key \S+, which is not in/,
    );
    await expect(open({ prefix: "shared" })).rejects.toThrow("the task store is sealed");
  });

  test("seals records that hold content, and no others", async () => {
    const { store } = await makeStore({});
    await store.contentRecords?.put("a", { text: "content" });
    await store.records.put("b", { text: "clear" });
    expect(await store.contentRecords?.get("a")).toEqual({ text: "content" });
    expect((await store.contentRecords?.list("a", 9))?.map(({ value }) => value)).toEqual([{ text: "content" }]);
    expect(JSON.stringify(await store.records.get("a"))).toMatch(/^\{"sealed":"sealed1\./);
    await store.records.put("c", (await store.records.get("a")) ?? {});
    await expect(store.contentRecords?.get("c")).rejects.toThrow("was changed, or is not in its place");
    await expect(store.contentRecords?.get("b")).rejects.toThrow("is not sealed");
    expect(await store.contentRecords?.count("n")).toBe(1);
    expect(await store.contentRecords?.get("n")).toEqual({ count: 1 });
  });

  test("a message that resumes a task is read in its place", async () => {
    const { store } = await makeStore({});
    await store.create(start("t"));
    await store.append("t", {
      epoch: 1,
      after: 1,
      events: [status("input-required", "who")],
      state: { step: 1 },
      unlessQueued: false,
    });
    const resumed = await store.resume("t", OWNER, message("me"), { holder: "h-2", leaseMs: 1_000 });
    expect(resumed).toMatchObject({ ok: true, turn: 2, state: { step: 1 } });
    expect(shape(await store.snapshot("t", OWNER))?.history).toEqual(["hello", "who", "me"]);
  });
});
