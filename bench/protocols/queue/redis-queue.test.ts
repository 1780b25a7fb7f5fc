import { existsSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { sampleRequest } from "../../../test/helpers/bench-events.js";
import { redisAvailable } from "../../../test/redis-server.js";
import { RedisProcess } from "./redis-process.js";
import { RedisQueue } from "./redis-queue.js";

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function open(): Promise<{ readonly coordinator: () => Promise<RedisQueue>; readonly socket: string }> {
  const redis = await RedisProcess.start(20_000);
  opened.push(() => redis.stop());
  const coordinator = async (): Promise<RedisQueue> => {
    const queue = await RedisQueue.open(redis.socket, "measure");
    opened.push(() => queue.close());
    return queue;
  };
  return { coordinator, socket: redis.socket };
}

async function collected<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const answerTo = (seq: number) => sampleRequest("b0-0", seq)[0];

describe.skipIf(!(await redisAvailable()))("a queue in Redis", { timeout: 60_000 }, () => {
  it("gives every entry once, in order, and keeps the first answer of each", async () => {
    const { coordinator } = await open();
    const queue = await coordinator();
    expect(await queue.begin(7, 0, 3)).toBe(7);
    expect(await queue.take(10)).toEqual({ seq: 0, firstTakenNs: 10, again: false });
    expect(await queue.take(11)).toEqual({ seq: 1, firstTakenNs: 11, again: false });
    expect(await queue.settle(answerTo(0))).toBe(1);
    expect(await queue.settle({ ...answerTo(0), to: "another" })).toBe(1);
    expect((await queue.take(12))?.seq).toBe(2);
    expect(await queue.take(13)).toBeUndefined();
    expect(await collected(queue.events())).toEqual([answerTo(0)]);
  });

  it("gives the next coordinator what the last had taken and not recorded, before the rest", async () => {
    const { coordinator } = await open();
    const first = await coordinator();
    await first.begin(7, 0, 5);
    for (const now of [10, 11, 12]) await first.take(now);
    await first.settle(answerTo(1));
    first.close();
    const next = await coordinator();
    expect(await next.begin(99, 0, 5)).toBe(7);
    const taken = [await next.take(20), await next.take(21), await next.take(22), await next.take(23), await next.take(24)];
    expect(taken).toEqual([
      { seq: 0, firstTakenNs: 10, again: true },
      { seq: 2, firstTakenNs: 12, again: true },
      { seq: 3, firstTakenNs: 22, again: false },
      { seq: 4, firstTakenNs: 23, again: false },
      undefined,
    ]);
  });

  it("leaves neither a process nor a folder behind", async () => {
    const redis = await RedisProcess.start(20_000);
    expect(existsSync(redis.socket)).toBe(true);
    await redis.stop();
    expect(existsSync(redis.socket)).toBe(false);
  });
});
