import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { batch, chunk, LEASE, message, OWNER, read, start, status } from "../../../../test/helpers/stores/contract-samples.js";
import { type RedisServer, redisAvailable, startRedis } from "../../../../test/redis-server.js";
import type { Store } from "../../store.js";
import { openRedisStore, type RedisStoreOptions } from "../redis.js";

const available = await redisAvailable();
const WAIT_MS = 10_000;

describe.skipIf(!available)("several stores on one Redis", () => {
  let server: RedisServer;
  let admin: Redis;
  let prefix = "";
  let prefixes = 0;
  let nowMs = 1_000;
  let opened: Store[] = [];

  beforeAll(async () => {
    server = await startRedis();
    admin = new Redis(server.url);
  });
  afterAll(async () => {
    admin.disconnect();
    await server.stop();
  });
  beforeEach(() => {
    prefixes += 1;
    prefix = `shared-${prefixes}`;
    nowMs = 1_000;
  });
  afterEach(async () => {
    await Promise.all(opened.map((store) => store.close?.()));
    opened = [];
  });

  async function open(options: Partial<RedisStoreOptions> = {}): Promise<Store> {
    const store = await openRedisStore({ url: server.url, prefix, testClock: () => nowMs, ...options });
    opened.push(store);
    return store;
  }

  test("a holder that returns after its lease is rejected in every operation", async () => {
    const [zombie, heir] = [await open(), await open()];
    await zombie.create(start("t"));
    nowMs += 1_001;
    expect(await heir.takeOver({ holder: "h-2", leaseMs: 1_000 }, 10)).toMatchObject([{ taskId: "t", epoch: 2, seq: 1 }]);
    expect(await zombie.append("t", batch(1, 1, [chunk("late")]))).toEqual({ ok: false, because: "fenced" });
    expect(await zombie.renew([{ taskId: "t", epoch: 1 }], 1_000)).toEqual([{ ok: false, because: "fenced" }]);
    expect(await zombie.nextTurn("t", 1, 1)).toBeUndefined();
    expect((await heir.append("t", batch(2, 1, [status("failed")]))).ok).toBe(true);
    expect(await read(zombie, "t")).toEqual(["1 task submitted", "2 status failed"]);
  });

  test("a rejected resume does not delay the take-over of a lost task", async () => {
    const store = await open();
    await store.create(start("t"));
    nowMs += 900;
    expect(await store.resume("t", OWNER, message("x"), LEASE)).toEqual({ ok: false, because: "running" });
    nowMs += 200;
    expect(await store.takeOver({ holder: "h-2", leaseMs: 1_000 }, 10)).toMatchObject([{ taskId: "t", epoch: 2 }]);
  });

  test("a lease that is given back is taken over at once", async () => {
    const [store, heir] = [await open(), await open()];
    await store.create(start("t"));
    await store.renew([{ taskId: "t", epoch: 1 }], 0);
    expect(await heir.takeOver({ holder: "h-2", leaseMs: 1_000 }, 10)).toMatchObject([{ taskId: "t", epoch: 2 }]);
  });

  test("a damaged task or webhook does not block others", async () => {
    const store = await open();
    for (const id of ["a", "b", "c"]) {
      await store.create({ ...start(id), push: { taskId: id, id: "p", url: "https://x.example" } });
      nowMs += 1;
    }
    for (const kind of ["t", "p"]) {
      const [key = ""] = await admin.keys(`${prefix}:*:${kind}:a`);
      await admin.set(key, "damaged");
    }
    const told = await store.duePushes(LEASE, 2);
    expect(told.map(({ config }) => config.taskId).sort()).toEqual(["b", "c"]);
    nowMs += 1_001;
    const taken = await store.takeOver({ holder: "h-2", leaseMs: 1_000 }, 2);
    expect(taken.map(({ taskId }) => taskId).sort()).toEqual(["b", "c"]);
  });

  test("several sweepers take over each lost task once", async () => {
    const stores = [await open(), await open(), await open()];
    for (let task = 0; task < 60; task++) await stores[0]?.create(start(`t-${task}`));
    nowMs += 1_001;
    const taken = await Promise.all(stores.map((store, index) => store.takeOver({ holder: `h-${index}`, leaseMs: 1_000 }, 100)));
    const ids = taken.flat().map(({ taskId }) => taskId);
    expect(ids.length).toBe(60);
    expect(new Set(ids).size).toBe(60);
  });

  test("a key starts one task, however many ask at once", async () => {
    const stores = [await open(), await open()];
    const key = { key: "k", digest: "d", keepMs: 10_000 };
    const asked = Array.from({ length: 100 }, (_, index) => stores[index % 2]?.create({ ...start(`t-${index}`), key }));
    const created = await Promise.all(asked);
    const made = created.flatMap((answer, index) => (answer?.made === true ? [`t-${index}`] : []));
    expect(made.length).toBe(1);
    const repeated = created.filter(
      (answer) => answer?.made === false && answer.because === "repeated" && answer.taskId === made[0],
    );
    expect(repeated.length).toBe(99);
    expect((await stores[0]?.list(OWNER, { kind: "task.list" }))?.totalSize).toBe(1);
  });

  test("readers in another process are woken, and a reader that listens misses nothing", async () => {
    const [writer, reader] = [await open(), await open()];
    await writer.create(start("t"));
    const woken = new Promise<void>((resolve) => {
      reader.wake("t", resolve);
    });
    expect(await read(reader, "t")).toEqual(["1 task submitted"]);
    await writer.append("t", batch(1, 1, [chunk("a")]));
    await woken;
    expect(await read(reader, "t", 1)).toEqual(["2 artifact"]);
  });

  test("a cancel requested elsewhere is stored before the holder is notified", async () => {
    const [holder, other] = [await open(), await open()];
    const told = new Promise<string>((resolve) => {
      holder.listen?.("h-1", resolve);
    });
    await holder.create(start("t"));
    await subscribed(`${prefix}:h:h-1`);
    expect(await other.requestCancel("t", OWNER)).toEqual({ outcome: "notified", holder: "h-1" });
    expect(await told).toBe("t");
    expect(await holder.renew([{ taskId: "t", epoch: 1 }], 1_000)).toMatchObject([{ ok: true, cancelRequested: true }]);
  });

  test("an append and a create with lost answers can be repeated", async () => {
    const [holder, other] = [await open(), await open()];
    expect(await holder.create(start("t"))).toEqual({ made: true, epoch: 1 });
    expect(await holder.create(start("t"))).toEqual({ made: true, epoch: 1 });
    expect(await holder.create({ ...start("t"), lease: { ...LEASE, holder: "h-2" } })).toMatchObject({ made: false });
    const said = batch(1, 1, [chunk("a"), chunk("b", true)]);
    expect((await holder.append("t", said)).ok).toBe(true);
    expect((await holder.append("t", said)).ok).toBe(true);
    expect(await holder.append("t", batch(1, 1, [chunk("a"), chunk("c", true)]))).toEqual({ ok: false, because: "sequence" });
    const ending = batch(1, 3, [status("completed")]);
    expect((await holder.append("t", ending)).ok).toBe(true);
    expect((await holder.append("t", ending)).ok).toBe(true);
    expect(await read(other, "t")).toEqual(["1 task submitted", "2 artifact", "3 artifact", "4 status completed"]);
  });

  test("a holder may write through another store than the one that made its task", async () => {
    const [maker, writer] = [await open(), await open()];
    await maker.create(start("t"));
    expect((await writer.append("t", batch(1, 1, [chunk("a")]))).ok).toBe(true);
    expect(await writer.append("none", batch(1, 1, [chunk("a")]))).toEqual({ ok: false, because: "closed" });
  });

  test("an owner at its limit evicts finished tasks, with any concurrency", async () => {
    const store = await open({ limits: { keptTasks: 40 } });
    for (let task = 0; task < 40; task++) {
      await store.create(start(`old-${task}`));
      await store.append(`old-${task}`, batch(1, 1, [status("completed")]));
    }
    const made = await Promise.all(Array.from({ length: 30 }, (_, task) => store.create(start(`new-${task}`))));
    expect(made.filter((created) => created.made).length).toBe(30);
    expect((await store.list(OWNER, { kind: "task.list" })).totalSize).toBe(40);
    expect(await store.facts("old-29", OWNER)).toBeUndefined();
    expect((await store.facts("old-30", OWNER))?.state).toBe("completed");
  });

  test("a subject at its limit evicts finished tasks in any of its tenants, with any concurrency", async () => {
    const store = await open({ limits: { keptTasks: 20 } });
    const owners = Array.from({ length: 20 }, (_, tenant) => `bearer@${String(tenant).length}:${tenant}:ann`);
    for (const [task, owner] of owners.entries()) {
      await store.create({ ...start(`old-${task}`), owner });
      await store.append(`old-${task}`, batch(1, 1, [status("completed")]));
    }
    const made = await Promise.all(owners.slice(5).map((owner, task) => store.create({ ...start(`new-${task}`), owner })));
    expect(made.filter((created) => created.made).length).toBe(15);
    const sizes = await Promise.all(owners.map(async (owner) => (await store.list(owner, { kind: "task.list" })).totalSize));
    expect(sizes).toEqual(owners.map((_, tenant) => (tenant < 5 ? 0 : tenant < 15 ? 1 : 2)));
  });

  test("lists by key, context and state at once, page by page", async () => {
    const store = await open();
    for (let task = 10; task < 40; task++) {
      const key = { key: task % 2 === 0 ? "even" : `odd-${task}`, digest: "d", keepMs: 10_000 };
      const made = start(`t-${task}`);
      // The same key for another agent is another key.
      await store.create({ ...made, agent: `a-${task}`, key, task: { ...made.task, contextId: task < 20 ? "c=even" : "c" } });
    }
    await store.append("t-12", batch(1, 1, [status("completed")]));
    const query = { kind: "task.list", idempotencyKey: "even", contextId: "c=even", pageSize: 2 } as const;
    const pages: string[][] = [];
    for (let pageToken: string | undefined; pageToken !== ""; ) {
      const page = await store.list(OWNER, { ...query, pageToken });
      expect(page.totalSize).toBe(5);
      pages.push(page.tasks.map(({ id }) => id));
      pageToken = page.nextPageToken;
    }
    expect(pages).toEqual([["t-10", "t-12"], ["t-14", "t-16"], ["t-18"]]);
    expect((await store.list(OWNER, { ...query, state: "submitted" })).totalSize).toBe(4);
  });

  test("a limit may be none at all", async () => {
    const none = Number.POSITIVE_INFINITY;
    const store = await open({ limits: { keptTasks: none, keptTasksMs: none, journalBytes: none, inputsPerTask: none } });
    await store.create(start("t"));
    expect((await store.append("t", batch(1, 1, [status("completed")]))).ok).toBe(true);
    nowMs += 1e9;
    expect((await store.facts("t", OWNER))?.state).toBe("completed");
  });

  test("two prefixes do not see each other", async () => {
    const [here, there] = [await open(), await open({ prefix: `${prefix}-other` })];
    await here.create(start("t"));
    nowMs += 1_001;
    expect(await there.facts("t", OWNER)).toBeUndefined();
    expect(await there.takeOver({ holder: "h-2", leaseMs: 1_000 }, 10)).toEqual([]);
    expect((await there.list(OWNER, { kind: "task.list" })).totalSize).toBe(0);
  });

  test("a long task is folded from a snapshot, with all messages in place", async () => {
    const [writer, reader] = [
      await open({ limits: { entriesPerSnapshot: 4 } }),
      await open({ limits: { entriesPerSnapshot: 4 } }),
    ];
    await writer.create(start("t"));
    for (let seq = 1; seq <= 5; seq++) await writer.append("t", batch(1, seq, [chunk(`${seq}`, true)]));
    await writer.enqueue("t", OWNER, message("and?"));
    const whole = await writer.snapshot("t", OWNER);
    await until(async () => (await snapshotSeq()) === 6);
    await writer.enqueue("t", OWNER, message("so?"));
    await writer.append("t", batch(1, 6, [status("working", "w"), chunk("6", true)]));
    const folded = await reader.snapshot("t", OWNER);
    const texts = folded?.task.artifacts[0]?.parts.map((part) => (part.kind === "text" ? part.text : ""));
    expect([whole?.seq, folded?.seq, texts?.join("")]).toEqual([6, 8, "123456"]);
    expect(folded?.task.history.map(({ id }) => id)).toEqual(["m-hello", "m-and?", "m-so?"]);
    expect((await reader.snapshot("t", OWNER, 3))?.task.history.map(({ id }) => id)).toEqual(["m-hello"]);
    expect((await reader.snapshot("t", OWNER, 7))?.task.status.state).toBe("working");
  });

  test("a teller of a deleted webhook is not taken for the teller of one that was set under the same id", async () => {
    const store = await open();
    const push = { taskId: "t", id: "p", url: "https://x.example" };
    await store.create({ ...start("t"), push });
    const [old] = await store.duePushes(LEASE, 10);
    await store.deletePush("t", OWNER, "p");
    await store.setPush(OWNER, push);
    await store.append("t", batch(1, 1, [chunk("a")]));
    const [anew] = await store.duePushes(LEASE, 10);
    if (old === undefined || anew === undefined) throw new Error("the webhook was not due");
    expect(await store.recordPush(old, { outcome: "accepted", seq: 2, leaseMs: 1_000 })).toBe(false);
    expect(await store.recordPush(anew, { outcome: "accepted", seq: 2, leaseMs: 1_000 })).toBe(true);
  });

  test("leaves no keys when its tasks have ended and expired", async () => {
    const store = await open({ testClock: undefined, limits: { keptTasksMs: 300 } });
    const key = { key: "k", digest: "d", keepMs: 300 };
    const push = { taskId: "t", id: "p", url: "https://x.example" };
    await store.create({ ...start("t"), key, push });
    await store.create(start("u"));
    await store.enqueue("t", OWNER, message("x"));
    await store.append("t", batch(1, 1, [status("completed")]));
    await store.append("u", batch(1, 1, [status("input-required")]));
    await store.requestCancel("u", OWNER);
    const [due] = await store.duePushes(LEASE, 10);
    if (due === undefined) throw new Error("the webhook was not due");
    await store.recordPush(due, { outcome: "accepted", seq: 2, leaseMs: 1 });
    await store.recordPush(due, { outcome: "idle" });
    expect((await keysLeft()).length).toBeGreaterThan(5);
    await until(async () => {
      await store.takeOver(LEASE, 10);
      await store.duePushes(LEASE, 10);
      return (await keysLeft()).length === 0;
    });
    expect(await keysLeft()).toEqual([]);
  });

  async function keysLeft(): Promise<readonly string[]> {
    return admin.keys(`${prefix}:*`);
  }

  async function snapshotSeq(): Promise<number> {
    const [key = ""] = await admin.keys(`${prefix}:*:s:t`);
    return Number(await admin.hget(key, "seq"));
  }

  async function subscribed(channel: string): Promise<void> {
    await until(async () => (await admin.pubsub("CHANNELS", channel)).length > 0);
  }
});

/** Asks again until it is so; what cannot be waited for by an event. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + WAIT_MS;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error("did not come to pass");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
