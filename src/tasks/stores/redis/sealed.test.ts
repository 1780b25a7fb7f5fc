import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { message, OWNER, shape, start, status } from "../../../../test/helpers/stores/contract-samples.js";
import { storeKeyFolder } from "../../../../test/helpers/stores/sealed.js";
import { storeContract } from "../../../../test/helpers/stores/store-contract.js";
import { type RedisServer, redisAvailable, startRedis } from "../../../../test/redis-server.js";
import type { TaskLimits } from "../../limits.js";
import type { Store } from "../../store.js";
import { openRedisStore, type RedisStoreOptions } from "../redis.js";

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
