import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { storeContract } from "../../../test/helpers/stores/store-contract.js";
import { type RedisServer, redisAvailable, startRedis } from "../../../test/redis-server.js";
import type { TaskLimits } from "../limits.js";
import type { Store } from "../store.js";
import { openRedisStore } from "./redis.js";

const available = await redisAvailable();

describe.skipIf(!available)("the store contract, by the Redis store", () => {
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

  async function makeStore(limits: Partial<TaskLimits>) {
    let nowMs = 1_000;
    prefixes += 1;
    const store = await openRedisStore({ url: server.url, prefix: `contract-${prefixes}`, limits, testClock: () => nowMs });
    opened.push(store);
    return {
      store,
      advance(ms: number) {
        nowMs += ms;
      },
    };
  }

  for (const requirement of storeContract) {
    test(requirement.name, async () => {
      expect(await requirement.check(makeStore)).toBeUndefined();
    });
  }
});
