import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { batch, OWNER, read, start, status } from "../../../../test/helpers/stores/contract-samples.js";
import { AgentError } from "../../../envelope/index.js";
import { openSqliteStore } from "../sqlite.js";
import { CommitQueue } from "./commit-queue.js";
import { loadLibrary } from "./library.js";

const folder = mkdtempSync(join(tmpdir(), "koine-sqlite-queue-"));
let files = 0;

async function makeQueue() {
  files += 1;
  const connection = (await loadLibrary())(join(folder, `${files}.db`));
  connection.exec("PRAGMA journal_mode = WAL");
  connection.exec("CREATE TABLE t (x TEXT)");
  const seen = { commits: 0 };
  const committed = () => {
    seen.commits += 1;
  };
  const queue = new CommitQueue(connection, { begin: () => undefined, end: () => undefined, committed }, "t.db");
  const insert = connection.prepare("INSERT INTO t VALUES (?)");
  const rows = () => connection.prepare<readonly [string]>("SELECT x FROM t ORDER BY rowid").all([]).flat();
  return { connection, queue, insert, rows, seen };
}

afterAll(() => rmSync(folder, { recursive: true }));

describe("CommitQueue", () => {
  test("calls of one turn share a commit, in the order they came, and are answered after it", async () => {
    const { connection, queue, insert, rows, seen } = await makeQueue();
    const answers = await Promise.all(
      ["a", "b", "c"].map((x) => queue.do("write", () => insert.run([x])).then(() => [seen.commits, connection.inTransaction])),
    );
    expect(answers).toEqual([
      [1, false],
      [1, false],
      [1, false],
    ]);
    expect(rows()).toEqual(["a", "b", "c"]);
  });

  test("where several wait, those of the next turn share their commit; one alone waits for nobody", async () => {
    const { queue, insert, seen } = await makeQueue();
    const write = (x: string) => queue.do("write", () => insert.run([x]));
    const withNext = (calls: readonly Promise<unknown>[]) =>
      new Promise<unknown>((resolve) => setImmediate(() => resolve(Promise.all([...calls, write("next")]))));
    await withNext([write("a"), write("b")]);
    expect(seen.commits).toBe(1);
    await withNext([write("alone")]);
    expect(seen.commits).toBe(3);
  });

  test("a call that fails halfway writes nothing and does not affect others", async () => {
    const { queue, insert, rows } = await makeQueue();
    const fails = () => {
      insert.run(["half"]);
      throw new TypeError("broken");
    };
    const calls = [
      queue.do("write", () => insert.run(["a"])),
      queue.do("write", fails),
      queue.do("write", () => insert.run(["b"])),
    ];
    const settled = await Promise.allSettled(calls);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    await expect(calls[1]).rejects.toMatchObject({ code: "internal", message: "the task store t.db failed unexpectedly" });
    expect(rows()).toEqual(["a", "b"]);
  });

  test("a refusal is the caller's own; the others are not done twice", async () => {
    const { queue, insert, rows, seen } = await makeQueue();
    const refuse = () => {
      throw new AgentError("invalid_message", "no");
    };
    const settled = await Promise.allSettled([queue.do("read", refuse), queue.do("write", () => insert.run(["a"]))]);
    expect(settled.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
    expect([rows(), seen.commits]).toEqual([["a"], 1]);
  });

  test("a full disk is `unavailable`; calls that had room are written", async () => {
    const { connection, queue, insert, rows } = await makeQueue();
    connection.exec("PRAGMA max_page_count = 8");
    const calls = ["a", "x".repeat(100_000), "b"].map((x) => queue.do("write", () => insert.run([x])));
    const settled = await Promise.allSettled(calls);
    expect(settled.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    await expect(calls[1]).rejects.toMatchObject({ code: "unavailable", message: /t\.db has no room left/ });
    expect(rows()).toEqual(["a", "b"]);
  });

  test("a file that may not be written is `unavailable`", async () => {
    const { connection, queue, insert } = await makeQueue();
    connection.exec("PRAGMA query_only = 1");
    await expect(queue.do("write", () => insert.run(["a"]))).rejects.toMatchObject({ code: "unavailable" });
  });

  test("waits for another connection that writes, without holding up the process", async () => {
    const { connection, queue, insert, rows } = await makeQueue();
    const other = (await loadLibrary())(join(folder, `${files}.db`));
    other.exec("BEGIN IMMEDIATE");
    const written = queue.do("write", () => insert.run(["a"]));
    const first = await Promise.race([written, new Promise((resolve) => setTimeout(resolve, 30, "free meanwhile"))]);
    expect(first).toBe("free meanwhile");
    other.exec("COMMIT");
    other.close();
    await written;
    expect([rows(), connection.inTransaction]).toEqual([["a"], false]);
  });

  test("answers calls made before close, and rejects later ones", async () => {
    const { queue, insert, rows } = await makeQueue();
    const asked = queue.do("write", () => insert.run(["a"]));
    const closed = queue.close();
    await expect(queue.do("read", () => 1)).rejects.toMatchObject({
      code: "unavailable",
      message: "the task store t.db is closed",
    });
    await Promise.all([asked, closed]);
    expect(rows()).toEqual(["a"]);
  });
});

describe("a store over the queue", () => {
  // No JSON value: the write of it fails after the entries are written.
  const broken: unknown = { n: 1n };
  const bad = { ...batch(1, 1, [status("completed")]), state: broken as null };

  test("a failed write is not cached instead of another process's data", async () => {
    const options = { file: join(folder, "shared.db"), now: () => 1_000 };
    const store = await openSqliteStore(options);
    await store.create(start("t"));
    await expect(store.append("t", bad)).rejects.toMatchObject({ code: "internal" });
    await store.create(start("u"));
    const other = await openSqliteStore(options);
    await other.append("t", batch(1, 1, [status("failed")]));
    expect(await read(store, "t", 1)).toEqual(["2 status failed"]);
    await Promise.all([store.close?.(), other.close?.()]);
  });

  test("an append that cannot be written leaves the task as it was, and its neighbours are written", async () => {
    const store = await openSqliteStore({ file: join(folder, "store.db"), now: () => 1_000 });
    await Promise.all([store.create(start("t")), store.create(start("u"))]);
    const [failed, written] = await Promise.allSettled([
      store.append("t", bad),
      store.append("u", batch(1, 1, [status("completed")])),
    ]);
    expect([failed.status, written.status]).toEqual(["rejected", "fulfilled"]);
    expect(await store.facts("t", OWNER)).toMatchObject({ state: "submitted", seq: 1 });
    expect((await store.snapshot("t", OWNER))?.task.status.state).toBe("submitted");
    expect(await store.facts("u", OWNER)).toMatchObject({ state: "completed", seq: 2 });
    await store.close?.();
    await store.close?.();
    const calls = [store.create(start("v")), store.read("t", OWNER, 0, 1), store.takeOver({ holder: "h", leaseMs: 1 }, 1)];
    for (const call of calls) await expect(call).rejects.toMatchObject({ code: "unavailable" });
    expect(store.wake("t", () => undefined)()).toBeUndefined();
  });
});
