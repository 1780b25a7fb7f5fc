import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { agent, connect, DiscoveryCache, openRedisStore, type RemoteAgent, serve } from "../src/index.js";
import { type RedisServer, redisAvailable, startRedis } from "./redis-server.js";

/** Messages with a key, while Redis refuses writes or does not answer. */

const TEST_MS = 60_000;
const open: { close?(): unknown }[] = [];
function opened<T extends { close?(): unknown }>(made: T): T {
  open.push(made);
  return made;
}

describe.skipIf(!(await redisAvailable()))("a message with a key that was answered unavailable", () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis.stop());
  afterEach(async () => {
    for (const each of open.splice(0).reverse()) await each.close?.();
  });

  async function served(prefix: string): Promise<{ readonly caller: RemoteAgent; readonly handled: string[] }> {
    const handled: string[] = [];
    const worker = agent({
      name: "worker",
      description: "answers once for each key",
      handle({ text }) {
        handled.push(text);
        return `done: ${text}`;
      },
    });
    const store = opened(await openRedisStore({ url: redis.url, prefix }));
    const server = opened(await serve(worker, { store }));
    return { caller: opened(await connect(server.url, { discoveryCache: new DiscoveryCache() })), handled };
  }

  test(
    "because Redis had no memory left, runs when it is sent again",
    async () => {
      const { caller, handled } = await served("memory");
      expect(await caller.ask("first", { key: "k-1" })).toBe("done: first");
      const admin = new Redis(redis.url);
      await admin.config("SET", "maxmemory-policy", "noeviction");
      await admin.config("SET", "maxmemory", "1");
      await expect(caller.ask("second", { key: "k-2" })).rejects.toMatchObject({ code: "unavailable" });
      await admin.config("SET", "maxmemory", "0");
      admin.disconnect();
      expect(await caller.ask("second", { key: "k-2" })).toBe("done: second");
      expect(handled).toEqual(["first", "second"]);
    },
    TEST_MS,
  );

  test(
    "because Redis was frozen, runs when it is sent again",
    async () => {
      const { caller, handled } = await served("frozen");
      expect(await caller.ask("first", { key: "k-1" })).toBe("done: first");
      process.kill(redis.pid, "SIGSTOP");
      try {
        await expect(caller.ask("second", { key: "k-2" })).rejects.toMatchObject({ code: "unavailable" });
      } finally {
        process.kill(redis.pid, "SIGCONT");
      }
      let answer: string | undefined;
      while (answer === undefined)
        answer = await caller.ask("second", { key: "k-2" }).catch(async ({ code }: { code: string }) => {
          expect(code).toBe("unavailable");
          await new Promise((resolve) => setTimeout(resolve, 50));
          return undefined;
        });
      expect(answer).toBe("done: second");
      expect(handled).toEqual(["first", "second"]);
    },
    TEST_MS,
  );
});
