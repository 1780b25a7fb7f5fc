import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { type RedisServer, redisAvailable, startRedis } from "../../../../test/redis-server.js";
import type { Store } from "../../store.js";
import { openRedisStore, type RedisStoreOptions } from "../redis.js";

const available = await redisAvailable();
const WAIT_MS = 10_000;

describe.skipIf(!available)("records in Redis", () => {
  let server: RedisServer;
  let opened: Store[] = [];

  beforeAll(async () => {
    server = await startRedis({ appendfsync: "always" });
  });
  afterAll(() => server.stop());
  afterEach(async () => {
    await Promise.all(opened.map((store) => store.close?.()));
    opened = [];
  });

  async function open(prefix: string, options: Partial<RedisStoreOptions> = {}): Promise<Store> {
    const store = await openRedisStore({ url: server.url, prefix, ...options });
    opened.push(store);
    return store;
  }

  test("are shared by all stores of one prefix, and by no other", async () => {
    const [one, two, other] = await Promise.all([open("mine"), open("mine"), open("mine2")]);
    const numbers = Array.from({ length: 100 }, (_, n) => n);
    const of = (n: number) => (n % 2 === 0 ? one : two).records;
    const counts = await Promise.all(numbers.map((n) => of(n).count("count")));
    expect(counts.sort((a, b) => a - b)).toEqual(numbers.map((n) => n + 1));
    const added = await Promise.all([...numbers, ...numbers].map((n, call) => of(call).add(`name/${n}`, { call })));
    expect(added.filter((known) => known === undefined)).toHaveLength(100);
    await one.records.put("k", { n: 1 });
    expect(await two.records.get("k")).toEqual({ n: 1 });
    expect(await other.records.list("", 10)).toEqual([]);
  });

  test("are there after Redis was killed and came back", async () => {
    const store = await open("kept");
    await store.records.put("k", { n: 1 });
    await store.records.count("count");
    await server.kill("SIGKILL");
    await expect(store.records.get("k")).rejects.toMatchObject({ code: "unavailable" });
    await server.restart();
    const again = await open("kept");
    expect(await again.records.list("", 10)).toEqual([
      { key: "count", value: { count: 1 } },
      { key: "k", value: { n: 1 } },
    ]);
    expect(await again.records.count("count")).toBe(2);
    await eventually(async () => expect(await store.records.get("k")).toEqual({ n: 1 }));
  });

  test("expire by Redis's own time, and leave no keys", async () => {
    const store = await open("ends");
    await store.records.put("far", { n: 1 }, 60_000);
    await store.records.put("ever", { n: 1 }, Number.POSITIVE_INFINITY);
    await store.records.put("soon", { n: 1 }, 1);
    await eventually(async () => expect(await store.records.get("soon")).toBeUndefined());
    expect(await store.records.get("far")).toEqual({ n: 1 });
    expect(await store.records.get("ever")).toEqual({ n: 1 });
    for (const key of ["far", "ever"]) expect(await store.records.delete(key)).toBe(true);
    expect(await keysOf("ends")).toEqual([]);
  });

  test("live under the store's prefix, on one node of a cluster", async () => {
    const store = await open("names", { testClock: () => 1_000 });
    await store.records.put("a/{b}", { n: 1 }, 10);
    const tags = (await keysOf("names")).map((key) => /^names:(\{[^{}]*\}):/.exec(key)?.[1]);
    expect(tags).toEqual(["{records}", "{records}", "{records}", "{records}"]);
  });

  async function keysOf(prefix: string): Promise<readonly string[]> {
    const admin = new Redis(server.url);
    try {
      return await admin.keys(`${prefix}:*`);
    } finally {
      admin.disconnect();
    }
  }
});

/** Asks again until it is so; what cannot be waited for by an event. */
async function eventually(check: () => Promise<void>): Promise<void> {
  await expect
    .poll(
      () =>
        check().then(
          () => true,
          () => false,
        ),
      { timeout: WAIT_MS },
    )
    .toBe(true);
}
