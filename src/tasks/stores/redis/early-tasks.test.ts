import { execFileSync } from "node:child_process";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { batch, chunk, OWNER, read, start, status } from "../../../../test/helpers/stores/contract-samples.js";
import { type RedisServer, redisAvailable, startRedis } from "../../../../test/redis-server.js";
import { textPart } from "../../../envelope/index.js";
import type { Created, Store } from "../../store.js";
import { openRedisStore, type RedisStoreOptions } from "../redis.js";

const available = await redisAvailable();
const WAIT_MS = 10_000;
const ENDING = [chunk("a"), status("completed")];
/** Prints how many tasks an index counts, as soon as it is there, or 0. */
const KEPT_BY_ANOTHER = `
import { Redis } from "ioredis";
const [url, pattern] = process.argv.slice(1);
const redis = new Redis(url);
let key;
for (let tries = 0; key === undefined && tries < 100; tries++) [key] = await redis.keys(pattern);
process.stdout.write(String(key === undefined ? 0 : await redis.zcard(key)));
redis.disconnect();
`;

describe.skipIf(!available)("tasks that are answered before Redis has them", () => {
  let server: RedisServer;
  let admin: Redis;
  let opened: Store[] = [];
  let prefixes = 0;

  beforeAll(async () => {
    server = await startRedis();
    admin = new Redis(server.url);
  });
  afterAll(async () => {
    admin.disconnect();
    await server.stop();
  });
  afterEach(async () => {
    await Promise.all(opened.map((store) => store.close?.()));
    opened = [];
  });

  async function open(options: Partial<RedisStoreOptions> = {}): Promise<{ readonly store: Store; readonly prefix: string }> {
    const prefix = `early-${++prefixes}`;
    const store = await openRedisStore({ url: server.url, prefix, ...options });
    opened.push(store);
    return { store, prefix };
  }

  async function callsOf(command: string): Promise<number> {
    const stats = await admin.info("commandstats");
    return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
  }

  async function endAtOnce(store: Store, id: string, owner = OWNER) {
    const created = await store.create({ ...start(id), owner, early: true });
    const appended = await store.append(id, batch(1, 1, ENDING));
    return { appended, stored: await outcomeOf(created) };
  }

  test("those that end in one turn are stored sixteen at once, and none has a lease", async () => {
    const { store, prefix } = await open();
    const before = { evalsha: await callsOf("evalsha"), publish: await callsOf("publish") };
    const ids = Array.from({ length: 20 }, (_, index) => `t${index}`);
    const done = await Promise.all(ids.map((id) => endAtOnce(store, id)));
    expect(done.map(({ appended: { ok }, stored }) => [ok, stored])).toEqual(ids.map(() => [true, undefined]));
    expect(await callsOf("evalsha")).toBe(before.evalsha + 2);
    expect(await callsOf("publish")).toBe(before.publish);
    expect(await admin.exists(`${prefix}:leases`)).toBe(0);
    expect(await read(store, "t7")).toEqual(["1 task submitted", "2 artifact", "3 status completed"]);
  });

  test("sixteen are sent at once, while this process is still busy with the turn", async () => {
    const { store, prefix } = await open();
    const stored = Array.from({ length: 17 }, (_, index) => endAtOnce(store, `t${index}`));
    // They end in microtasks, after which nothing else runs here until the other process is over.
    for (let step = 0; step < 10; step++) await Promise.resolve();
    const seen = execFileSync(process.execPath, ["--input-type=module", "-e", KEPT_BY_ANOTHER, server.url, `${prefix}:*:kept`]);
    expect(seen.toString()).toBe("16");
    expect((await Promise.all(stored)).map((each) => each.stored)).toEqual(stored.map(() => undefined));
    expect((await store.list(OWNER, { kind: "task.list" })).totalSize).toBe(17);
  });

  test("those of other owners are stored too, each for its owner", async () => {
    const { store } = await open();
    await Promise.all([endAtOnce(store, "ann"), endAtOnce(store, "bob", "key:bob")]);
    expect((await store.snapshot("ann", OWNER))?.seq).toBe(3);
    expect((await store.snapshot("bob", "key:bob"))?.seq).toBe(3);
    expect(await store.snapshot("bob", OWNER)).toBeUndefined();
  });

  test("where there is no room for all, the oldest are evicted as by other tasks", async () => {
    const { store } = await open({ limits: { keptTasks: 5 } });
    await endAtOnce(store, "old");
    const ids = Array.from({ length: 5 }, (_, index) => `t${index}`);
    const done = await Promise.all(ids.map((id) => endAtOnce(store, id)));
    expect(done.map(({ appended: { ok }, stored }) => [ok, stored])).toEqual(ids.map(() => [true, undefined]));
    expect((await store.list(OWNER, { kind: "task.list" })).tasks.map(({ id }) => id).sort()).toEqual(ids);
  });

  test("a full store evicts as many as are needed in one step, in each tenant of the subject, and stores all in another", async () => {
    const { store } = await open({ limits: { keptTasks: 40 } });
    const owners = ["bearer@1:a:ann", "bearer@1:b:ann"] as const;
    const endAll = (name: string, count: number, owner: string) =>
      Promise.all(Array.from({ length: count }, (_, index) => endAtOnce(store, `${name}-${index}`, owner)));
    await endAll("old", 10, owners[0]);
    await endAll("old", 30, owners[1]);
    const before = await callsOf("evalsha");
    const done = await endAll("new", 16, owners[1]);
    expect(done.map(({ appended: { ok }, stored }) => [ok, stored])).toEqual(done.map(() => [true, undefined]));
    // No room; the eviction in two tenants; then there is room.
    expect(await callsOf("evalsha")).toBe(before + 4);
    const kept = await Promise.all(owners.map((owner) => store.list(owner, { kind: "task.list", pageSize: 50 })));
    const names = kept.map(({ tasks }) => tasks.map(({ id }) => id.split("-")[0]));
    expect(names.map((each) => each.filter((name) => name === "old").length)).toEqual([0, 24]);
    expect(names.map((each) => each.filter((name) => name === "new").length)).toEqual([0, 16]);
  });

  test("the oldest are evicted before the store is full, so that none has to be stored twice", async () => {
    const { store } = await open({ limits: { keptTasks: 400 } });
    const endAll = (name: string, count: number) =>
      Promise.all(Array.from({ length: count }, (_, index) => endAtOnce(store, `${name}-${index}`)));
    const kept = async () => (await store.list(OWNER, { kind: "task.list", pageSize: 1 })).totalSize;
    await endAll("old", 398);
    expect(await kept()).toBe(398);
    await endAll("new", 1);
    await until(async () => (await kept()) === 395);
    const before = await callsOf("evalsha");
    await endAll("next", 3);
    expect(await callsOf("evalsha")).toBe(before + 1);
  });

  test("more than a store may keep at all are stored one by one, and the oldest of them go", async () => {
    const { store } = await open({ limits: { keptTasks: 5 } });
    const ids = Array.from({ length: 8 }, (_, index) => `t${index}`);
    const done = await Promise.all(ids.map((id) => endAtOnce(store, id)));
    expect(done.filter(({ stored }) => stored === undefined).length).toBeGreaterThanOrEqual(5);
    expect((await store.list(OWNER, { kind: "task.list" })).totalSize).toBe(5);
  });

  test("an ending beyond the limit of the journal is refused, and the task can still be closed", async () => {
    const { store } = await open({ limits: { journalEntries: 3 } });
    const created = await store.create({ ...start("t"), early: true });
    const long = [chunk("a"), chunk("b", true), status("completed")];
    expect(await store.append("t", batch(1, 1, long))).toEqual({ ok: false, because: "full" });
    expect(await outcomeOf(created)).toBeUndefined();
    expect((await store.append("t", batch(1, 1, [status("failed")]))).ok).toBe(true);
    expect(await read(store, "t")).toEqual(["1 task submitted", "2 status failed"]);
  });

  test("an ending of another epoch is refused, and the task is held", async () => {
    const { store } = await open();
    await store.create({ ...start("t"), early: true });
    expect(await store.append("t", batch(2, 1, ENDING))).toEqual({ ok: false, because: "fenced" });
    expect(await store.renew([{ taskId: "t", epoch: 1 }], 1_000)).toEqual([{ ok: true, cancelRequested: false, pushDue: false }]);
  });

  test("an id that is taken is refused, and the task that has it stays", async () => {
    const { store } = await open();
    await endAtOnce(store, "t");
    const again = await store.create({ ...start("t"), lease: { holder: "h-2", leaseMs: 1_000 }, early: true });
    const appended = await store.append("t", batch(1, 1, [chunk("b"), chunk("c"), status("failed")]));
    expect(await outcomeOf(again)).toBe("full");
    expect(appended).toEqual({ ok: false, because: "closed" });
    expect(await read(store, "t")).toEqual(["1 task submitted", "2 artifact", "3 status completed"]);
  });

  test("one that cannot be stored does not take the others of its turn with it", async () => {
    const { store } = await open();
    const metadata = {
      get broken(): string {
        throw new TypeError("no JSON");
      },
    };
    const artifact = { id: "result", parts: [textPart("a")] };
    const broken = { kind: "artifact", taskId: "bad", contextId: "c", artifact, append: false, last: false, metadata } as const;
    await store.create({ ...start("bad"), early: true });
    const bad = Promise.resolve(store.append("bad", batch(1, 1, [broken, status("completed")])));
    const [refused, good] = await Promise.all([bad.then(String, String), endAtOnce(store, "good")]);
    expect(refused).toContain("no JSON");
    expect(good).toMatchObject({ appended: { ok: true }, stored: undefined });
    expect((await store.append("bad", batch(1, 1, [status("failed")]))).ok).toBe(true);
  });

  test("a holder may renew in the same turn", async () => {
    const { store } = await open();
    await store.create({ ...start("t"), early: true });
    expect(await store.renew([{ taskId: "t", epoch: 1 }], 1_000)).toEqual([{ ok: true, cancelRequested: false, pushDue: false }]);
  });

  test("a store that is closed in the same turn stores them first", async () => {
    const { store, prefix } = await open();
    const ending = endAtOnce(store, "t");
    await Promise.resolve();
    await store.close?.();
    expect(await ending).toMatchObject({ appended: { ok: true }, stored: undefined });
    const { store: again } = await open({ prefix });
    expect(await read(again, "t")).toEqual(["1 task submitted", "2 artifact", "3 status completed"]);
  });

  test("what Redis stored without an answer is withdrawn: the caller was told of a failure", async () => {
    const { store, prefix } = await open();
    const before = await callsOf("rpush");
    process.kill(server.pid, "SIGSTOP");
    const { appended, stored } = await endAtOnce(store, "t");
    process.kill(server.pid, "SIGCONT");
    expect(stored).toMatchObject({ code: "unavailable" });
    expect(appended).toEqual({ ok: false, because: "closed" });
    await until(async () => (await callsOf("rpush")) > before && (await admin.keys(`${prefix}:*`)).length === 0);
    expect(await admin.keys(`${prefix}:*`)).toEqual([]);
  });
});

async function outcomeOf(created: Created): Promise<unknown> {
  if (!created.made) return created.because;
  return created.stored?.catch((reason: unknown) => reason);
}

/** Asks again until it is so; what cannot be waited for by an event. */
async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + WAIT_MS;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error("did not come to pass");
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
