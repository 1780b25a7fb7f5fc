import { once } from "node:events";
import { createServer } from "node:net";
import { inspect } from "node:util";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { batch, chunk, OWNER, read, start, status } from "../../../../test/helpers/stores/contract-samples.js";
import { type RedisServer, redisAvailable, startRedis } from "../../../../test/redis-server.js";
import { AgentError } from "../../../envelope/index.js";
import type { Store } from "../../store.js";
import { openRedisStore, type RedisStoreOptions } from "../redis.js";
import { REDIS_ANSWER_MS } from "./connection.js";
import { storeFailure } from "./failures.js";

const available = await redisAvailable();
const WAIT_MS = 10_000;

describe.skipIf(!available)("Redis outages", () => {
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

  async function open(options: Partial<RedisStoreOptions> = {}): Promise<Store> {
    const store = await openRedisStore({ url: server.url, ...options });
    opened.push(store);
    return store;
  }

  test("killed: clear errors meanwhile, then the same store continues with all acknowledged data", async () => {
    const store = await open();
    await store.create({ ...start("t"), lease: { holder: "h-1", leaseMs: 60_000 } });
    let acknowledged = 1;
    const failed = refusal(write());
    async function write(): Promise<void> {
      for (;;) {
        const answer = await store.append("t", batch(1, acknowledged, [chunk(`${acknowledged}`, true)]));
        if (!answer.ok) throw new Error(answer.because);
        acknowledged += 1;
      }
    }
    await until(async () => acknowledged > 50);
    await server.kill("SIGKILL");
    expect(await failed).toMatchObject({ code: "unavailable", message: "the task store does not answer" });
    await expect(store.facts("t", OWNER)).rejects.toMatchObject({ code: "unavailable" });
    await server.restart();
    await until(() =>
      store.facts("t", OWNER).then(
        () => true,
        () => false,
      ),
    );
    const { seq = 0 } = (await store.facts("t", OWNER)) ?? {};
    // The last append may have been written without an answer; said again, it is taken once.
    expect(seq - acknowledged).toBeOneOf([0, 1]);
    expect((await store.append("t", batch(1, acknowledged, [chunk(`${acknowledged}`, true)]))).ok).toBe(true);
    const entries = await store.read("t", OWNER, 0, 10_000);
    expect(entries?.entries.length).toBe(acknowledged + 1);
    const task = (await store.snapshot("t", OWNER))?.task;
    const texts = task?.artifacts[0]?.parts.map((part) => (part.kind === "text" ? Number(part.text) : 0));
    expect(texts).toEqual(Array.from({ length: acknowledged }, (_, index) => index + 1));
  });

  test("connection lost: listeners are called once more, and notified of later changes", async () => {
    const [writer, reader] = [await open(), await open()];
    await writer.create(start("u"));
    let notified = 0;
    let notify: () => void = () => undefined;
    const nextRing = () =>
      new Promise<void>((resolve) => {
        notify = resolve;
      });
    reader.wake("u", () => {
      notified += 1;
      notify();
    });
    expect(await read(reader, "u")).toEqual(["1 task submitted"]);
    const admin = new Redis(server.url);
    const again = nextRing();
    await admin.call("CLIENT", "KILL", "TYPE", "pubsub");
    await again;
    expect(notified).toBe(1);
    const told = nextRing();
    await until(() =>
      Promise.resolve(writer.append("u", batch(1, 1, [chunk("a")]))).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    await told;
    await admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    admin.disconnect();
    await until(() =>
      Promise.resolve(writer.append("u", batch(1, 2, [status("completed")]))).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
    expect(await read(writer, "u", 2)).toEqual(["3 status completed"]);
  });

  test("after a break the holders come first: nothing is taken over before they could renew", async () => {
    const [holder, other] = [await open({ prefix: "holders" }), await open({ prefix: "holders" })];
    await holder.create({ ...start("h"), lease: { holder: "h-1", leaseMs: 1 } });
    const admin = new Redis(server.url);
    await admin.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
    admin.disconnect();
    const lease = { holder: "h-2", leaseMs: 60_000 };
    const taken: unknown[] = [];
    await until(() =>
      other.takeOver(lease, 10).then(
        (lost) => taken.push(...lost) >= 0,
        () => false,
      ),
    );
    expect(taken).toEqual([]);
    await until(() =>
      holder.renew([{ taskId: "h", epoch: 1 }], 1).then(
        ([renewed]) => renewed?.ok === true,
        () => false,
      ),
    );
    const fresh = await open({ prefix: "holders" });
    await until(async () => (await fresh.takeOver(lease, 10)).length === 1);
  });

  test("a task without a hint is found by the sweep once somebody asks for it", async () => {
    const key = { key: "k", digest: "d", keepMs: 60_000 };
    const asks: Record<string, (store: Store) => Promise<unknown>> = {
      cancelled: (store) => store.requestCancel("lost", OWNER),
      repeated: async (store) => store.create({ ...start("again"), key }),
    };
    for (const [prefix, ask] of Object.entries(asks)) {
      const store = await open({ prefix });
      await store.create({ ...start("lost"), key, lease: { holder: "h-1", leaseMs: 1 } });
      const admin = new Redis(server.url);
      await admin.del(`${prefix}:leases`);
      admin.disconnect();
      const lease = { holder: "h-2", leaseMs: 60_000 };
      expect(await store.takeOver(lease, 10)).toEqual([]);
      await ask(store);
      await until(async () => (await store.takeOver(lease, 10)).some(({ taskId }) => taskId === "lost"));
    }
  });

  test("Redis forgets its scripts: they are sent again", async () => {
    const store = await open();
    const admin = new Redis(server.url);
    await admin.script("FLUSH");
    admin.disconnect();
    expect((await store.create(start("v"))).made).toBe(true);
  });

  test("Redis hangs: queued commands fail after a named time, and recover", async () => {
    const store = await open();
    process.kill(server.pid, "SIGSTOP");
    const begun = performance.now();
    const asked = store.facts("t", OWNER);
    await expect(asked).rejects.toMatchObject({ code: "unavailable" });
    expect(performance.now() - begun).toBeGreaterThanOrEqual(REDIS_ANSWER_MS - 50);
    process.kill(server.pid, "SIGCONT");
    await until(() =>
      store.facts("none", OWNER).then(
        (facts) => facts === undefined,
        () => false,
      ),
    );
    expect(await store.facts("none", OWNER)).toBeUndefined();
  });

  test("never shows credentials, in errors or in messages for the operator", async () => {
    const admin = new Redis(server.url);
    await admin.acl("SETUSER", "koine-test", "on", ">s3cret-word", "~*", "&*", "+@all");
    const url = (word: string) => `redis://koine-test:${word}@127.0.0.1:${server.port}`;
    const store = await open({ url: url("s3cret-word") });
    expect(store.durability).toContain(`127.0.0.1:${server.port}, appendonly always`);
    expect(store.durability).not.toContain("s3cret-word");
    await expect(refusal(open({ url: url("wr0ng-word") }))).resolves.toMatchObject({ code: "unavailable" });
    expect(inspect(await refusal(open({ url: url("wr0ng-word") })), { depth: 10 })).not.toContain("wr0ng-word");
    expect(inspect(await refusal(open({ url: "http://a:wr0ng-word@127.0.0.1" })), { depth: 10 })).not.toContain("wr0ng-word");
    await admin.acl("SETUSER", "koine-test", "-evalsha");
    const refused = await refusal(store.setPush(OWNER, { taskId: "t", id: "p", url: "https://x.example", token: "t0ken" }));
    expect(refused).toMatchObject({ code: "unavailable" });
    expect(inspect(refused, { depth: 10 })).not.toMatch(/t0ken|s3cret-word/);
    await admin.acl("DELUSER", "koine-test");
    admin.disconnect();
  });
});

describe("openRedisStore()", () => {
  test("reports at once that the connection is refused", async () => {
    const probe = createServer().listen(0, "127.0.0.1");
    await once(probe, "listening");
    const address = probe.address();
    const port = typeof address === "object" ? address?.port : undefined;
    probe.close();
    await once(probe, "close");
    await expect(openRedisStore({ url: `redis://127.0.0.1:${port}` })).rejects.toMatchObject({ code: "unavailable" });
  });

  test.each(["", "127.0.0.1:6379", "http://127.0.0.1", "redis://"])("refuses the address %j", async (url) => {
    await expect(openRedisStore({ url })).rejects.toMatchObject({ code: "invalid_message" });
  });

  test.each(["", "a'b", "{a}", "x".repeat(65)])("refuses the prefix %j", async (prefix) => {
    await expect(openRedisStore({ url: "redis://127.0.0.1", prefix })).rejects.toMatchObject({ code: "invalid_message" });
  });
});

describe("storeFailure()", () => {
  test.each([
    ["LOADING Redis is loading the dataset in memory", /loading/],
    ["READONLY You can't write against a read only replica.", /replica/],
    ["BUSY Redis is busy running a script.", /busy/],
    ["OOM command not allowed when used memory > 'maxmemory'.", /memory/],
    ["NOAUTH Authentication required.", /credentials/],
  ])("%s", (said, words) => {
    const thrown = Object.assign(new Error(said), { name: "ReplyError" });
    const failure = storeFailure(thrown);
    expect(failure).toBeInstanceOf(AgentError);
    expect(failure.code).toBe("unavailable");
    expect(failure.message).toMatch(words);
  });
});

async function refusal(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
}

/** Asks again until it is so; what cannot be waited for by an event. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + WAIT_MS;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error("did not come to pass");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
