import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { batch, chunk, message, OWNER, read, start, status } from "../../../test/helpers/stores/contract-samples.js";
import { storeContract } from "../../../test/helpers/stores/store-contract.js";
import { earlyContract } from "../../../test/helpers/stores/store-contract-early.js";
import type { TaskEvent } from "../../envelope/index.js";
import type { TaskLimits } from "../limits.js";
import type { Store } from "../store.js";
import { createMemoryStore } from "./memory.js";
import { loadLibrary } from "./sqlite/library.js";
import { openSqliteStore } from "./sqlite.js";

const folder = mkdtempSync(join(tmpdir(), "koine-sqlite-"));
const opened: Store[] = [];
let files = 0;

function clock() {
  let nowMs = 1_000;
  return {
    now: () => nowMs,
    advance(ms: number) {
      nowMs += ms;
    },
  };
}

async function open(options: { readonly limits?: Partial<TaskLimits>; readonly file?: string; now?(): number } = {}) {
  const { limits = {}, file = newFile(), now = () => 1_000 } = options;
  const store = await openSqliteStore({ file, limits, now });
  opened.push(store);
  return store;
}

function newFile(): string {
  files += 1;
  return join(folder, `${files}.db`);
}

/** Every call goes to the other of two stores over one file: neither may rely on what it remembers. */
async function openTwofold(limits: Partial<TaskLimits>) {
  const { now, advance } = clock();
  const file = newFile();
  const both = [await open({ limits, file, now }), await open({ limits, file, now })] as const;
  let calls = 0;
  const store = new Proxy(both[0], {
    get(_, name: keyof Store) {
      if (name === "wake") {
        return (taskId: string, run: () => void) => {
          const off = both.map((each) => each.wake(taskId, run));
          return () => off.forEach((leave) => void leave());
        };
      }
      calls += 1;
      const one = both[calls % 2 === 0 ? 0 : 1];
      const method = one[name];
      return typeof method === "function" ? method.bind(one) : method;
    },
  });
  return { store, advance };
}

afterAll(async () => {
  for (const store of opened) await store.close?.();
  rmSync(folder, { recursive: true });
});

describe("the store contract, by the sqlite store", () => {
  for (const requirement of storeContract) {
    test(requirement.name, async () => {
      const make = async (limits: Partial<TaskLimits>) => {
        const { now, advance } = clock();
        return { store: await open({ limits, now }), advance };
      };
      expect(await requirement.check(make)).toBeUndefined();
    });
  }
});

describe("the store contract, by two sqlite stores over one file in turn", () => {
  // The entries of an early task come through the store that made it, until it is stored.
  for (const requirement of storeContract.filter((each) => !earlyContract.includes(each))) {
    test(requirement.name, async () => {
      expect(await requirement.check(openTwofold)).toBeUndefined();
    });
  }
});

describe("openSqliteStore()", () => {
  test("a journal with intermediate snapshots equals one in memory, at every entry", async () => {
    const limits = { entriesPerSnapshot: 4 };
    const [file, memory] = [newFile(), createMemoryStore({ limits, now: () => 1_000 })];
    const written = await open({ limits, file });
    const events: TaskEvent[] = [chunk("a"), chunk("b", true), status("working", "w1"), chunk("c"), chunk("d", true)];
    for (const store of [written, memory]) {
      await store.create(start("t"));
      for (let entry = 1; entry <= 60; entry += 1) {
        await store.append("t", batch(1, entry, events.slice(entry % 5, (entry % 5) + 1)));
        if (entry % 7 === 0) await store.enqueue("t", OWNER, message(`heard ${entry}`));
      }
      await store.append("t", batch(1, 61, [status("completed", "w2")]));
    }
    const read = await open({ limits, file });
    for (let at = 1; at <= 62; at += 1)
      expect(await read.snapshot("t", OWNER, at)).toEqual(await memory.snapshot("t", OWNER, at));
    expect((await read.read("t", OWNER, 9, 30))?.entries).toEqual((await memory.read("t", OWNER, 9, 30))?.entries);
  });

  test("snapshots together are no longer than a few journals, however long the artifact gets", async () => {
    const file = newFile();
    const store = await open({ limits: { entriesPerSnapshot: 8, inputsPerTask: 4 }, file });
    await store.create(start("t"));
    for (let seq = 1; seq <= 1_500; seq += 3) {
      const piece = chunk("x".repeat(100), seq > 1);
      expect((await store.append("t", batch(1, seq, [piece, chunk("y", true), chunk("z", true)]))).ok).toBe(true);
    }
    const connection = (await loadLibrary())(file);
    const sizes = connection.prepare<readonly [number, number]>(
      "SELECT (SELECT sum(length(body)) FROM snapshots), (SELECT sum(length(events)) FROM journal)",
    );
    const [snapshots = 0, journal = 0] = sizes.get([]) ?? [];
    connection.close();
    expect(snapshots).toBeGreaterThan(journal / 10);
    expect(snapshots).toBeLessThan(journal * 3);
  });

  test("entries of one append are read from any of them on", async () => {
    const file = newFile();
    await (await open({ file })).create(start("t"));
    await (await open({ file })).append("t", batch(1, 1, [chunk("a"), chunk("b\n", true), chunk("c", true)]));
    const store = await open({ file });
    const seqs = async (after: number, limit: number) =>
      (await store.read("t", OWNER, after, limit))?.entries.map(({ seq }) => seq);
    expect(await seqs(0, 2)).toEqual([1, 2]);
    expect(await seqs(2, 1)).toEqual([3]);
    expect(await seqs(3, 9)).toEqual([4]);
    expect(await seqs(4, 9)).toEqual([]);
  });

  test("keeps at most keptBytes, and returns `full` if nothing can be evicted", async () => {
    const store = await open({ limits: { keptBytes: 2_000 } });
    const big = (id: string) => {
      const { task, ...rest } = start(id);
      return { ...rest, task: { ...task, history: [message("x".repeat(500))] } };
    };
    for (const id of ["1", "2", "3", "4"]) {
      expect((await store.create(big(id))).made).toBe(true);
      await store.append(id, batch(1, 1, [status("completed")]));
    }
    expect(await store.facts("1", OWNER)).toBeUndefined();
    await store.create(big("run-1"));
    await store.create(big("run-2"));
    expect(await store.create(big("run-3"))).toEqual({ made: false, because: "full" });
  });

  test("a task that is made early and ended in the same turn is one row in each table", async () => {
    const file = newFile();
    const store = await open({ file });
    const created = await store.create({ ...start("t"), early: true });
    await store.append("t", batch(1, 1, [chunk("a"), status("completed")]));
    expect(created).toMatchObject({ made: true, stored: expect.any(Promise) });
    const connection = (await loadLibrary())(file);
    const rows = connection.prepare("SELECT t.seq, t.closed, t.holder, j.first FROM tasks t JOIN journal j ON j.task = t.n");
    expect(rows.all([])).toEqual([[3, 1, null, 1]]);
    connection.close();
    expect(await read(await open({ file }), "t")).toEqual(["1 task submitted", "2 artifact", "3 status completed"]);
  });

  test("is flat after eviction: as many rows after 600 tasks as after 300", async () => {
    const file = newFile();
    const store = await open({ limits: { keptTasks: 100 }, file });
    const connection = (await loadLibrary())(file);
    const rows = connection.prepare<readonly [number, number]>(
      "SELECT (SELECT count(*) FROM tasks), (SELECT count(*) FROM journal)",
    );
    const seen = [];
    for (const many of [300, 300]) {
      for (let each = 0; each < many; each += 1) {
        const id = `t${seen.length}-${each}`;
        await store.create({ ...start(id), push: { taskId: id, id: "p", url: "https://x.example" } });
        await store.append(id, batch(1, 1, [status("completed")]));
      }
      seen.push(rows.get([]));
    }
    connection.close();
    expect(seen).toEqual([
      [100, 200],
      [100, 200],
    ]);
  });

  test("evicts many at once, and nothing of those between them", async () => {
    const { now, advance } = clock();
    const file = newFile();
    const store = await open({ limits: { keptTasksMs: 100 }, file, now });
    const runs = (n: number) => n % 3 === 1;
    for (let n = 0; n < 30; n += 1) {
      await store.create(start(`t${n}`));
      await store.append(`t${n}`, batch(1, 1, runs(n) ? [chunk("a")] : [status("completed")]));
    }
    advance(100);
    for (let n = 0; n < 32; n += 1) await store.create(start(`new-${n}`));
    const kept = Array.from({ length: 30 }, (_, n) => n).filter(runs);
    for (const n of kept) expect(await read(store, `t${n}`)).toEqual(["1 task submitted", "2 artifact"]);
    const connection = (await loadLibrary())(file);
    const count = (table: string) => connection.prepare<readonly [number]>(`SELECT count(*) FROM ${table}`).get([])?.[0];
    expect([count("tasks"), count("journal")]).toEqual([kept.length + 32, kept.length * 2 + 32]);
    connection.close();
  });

  test("releases pages gradually when most of the file is unused", async () => {
    const { now, advance } = clock();
    const file = newFile();
    const store = await open({ limits: { keptTasksMs: 100 }, file, now });
    const connection = (await loadLibrary())(file);
    const pages = () => connection.prepare<readonly [number]>("PRAGMA page_count").get([])?.[0] ?? 0;
    for (let n = 0; n < 200; n += 1) {
      await store.create(start(`long-${n}`));
      await store.append(`long-${n}`, batch(1, 1, [chunk("x".repeat(30_000)), status("completed")]));
    }
    const most = pages();
    advance(100);
    for (let n = 0; n < 800; n += 1) await store.create(start(`short-${n}`));
    expect(pages()).toBeLessThan(most / 2);
    connection.close();
  });

  test("a fully delivered webhook is not due, and an append reports none pending", async () => {
    const store = await open();
    await store.create({ ...start("t"), push: { taskId: "t", id: "p", url: "https://x.example" } });
    const [due] = await store.duePushes({ holder: "teller", leaseMs: 1_000 }, 10);
    if (due === undefined) throw new Error("the webhook was not due");
    await store.recordPush(due, { outcome: "accepted", seq: 1, leaseMs: 1_000 });
    await store.recordPush(due, { outcome: "idle" });
    expect(await store.duePushes({ holder: "teller", leaseMs: 1_000 }, 10)).toEqual([]);
    expect(await store.renew([{ taskId: "t", epoch: 1 }], 1_000)).toEqual([{ ok: true, cancelRequested: false, pushDue: false }]);
  });

  test("a listener that throws reverts nothing", async () => {
    const store = await open();
    await store.create(start("t"));
    store.wake("t", () => {
      throw new Error("broken listener");
    });
    expect(await store.append("t", batch(1, 1, [chunk("a")]))).toMatchObject({ ok: true });
    expect((await store.facts("t", OWNER))?.seq).toBe(2);
  });

  test("keys are kept up to the limit of an owner and of all, and make room when they end", async () => {
    const { now, advance } = clock();
    const store = await open({ limits: { idempotencyKeysPerOwner: 1, idempotencyKeys: 2 }, now });
    const create = (id: string, owner: string) =>
      store.create({ ...start(id), owner, key: { key: id, digest: "d", keepMs: 100 } });
    expect((await create("1", "ann")).made).toBe(true);
    expect(await create("2", "ann")).toEqual({ made: false, because: "full" });
    expect((await create("3", "bob")).made).toBe(true);
    expect(await create("4", "cid")).toEqual({ made: false, because: "full" });
    advance(100);
    expect((await create("5", "ann")).made).toBe(true);
    expect((await create("6", "cid")).made).toBe(true);
  });

  test("names from outside come back as they were given, and no two become one", async () => {
    const store = await open();
    const names = ["a", "a\0b", "a%0;b", "\ud800", "\ud801", "\ufffd", "😀"];
    for (const [index, name] of names.entries()) {
      const { task, ...rest } = start(`t${index}`);
      const made = { ...rest, owner: name, task: { ...task, contextId: name }, key: { key: name, digest: "d", keepMs: 100 } };
      expect((await store.create(made)).made).toBe(true);
    }
    for (const [index, name] of names.entries()) {
      expect((await store.facts(`t${index}`, name))?.contextId).toBe(name);
      const page = await store.list(name, { kind: "task.list", contextId: name, idempotencyKey: name });
      expect([page.totalSize, page.tasks[0]?.id]).toEqual([1, `t${index}`]);
    }
  });
});
