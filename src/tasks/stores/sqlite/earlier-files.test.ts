import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { batch, chunk, OWNER, read, start, status } from "../../../../test/helpers/stores/contract-samples.js";
import type { Store } from "../../store.js";
import { openSqliteStore } from "../sqlite.js";
import { loadLibrary } from "./library.js";

const folder = mkdtempSync(join(tmpdir(), "koine-sqlite-earlier-"));
let files = 0;

afterAll(() => rmSync(folder, { recursive: true }));

function newFile(): string {
  files += 1;
  return join(folder, `${files}.db`);
}

function open({ file }: { readonly file: string }): Promise<Store> {
  return openSqliteStore({ file, now: () => 1_000 });
}

describe("a file of an earlier version", () => {
  test("lists its tasks in the same order", async () => {
    const file = newFile();
    const store = await open({ file });
    for (const id of ["b", "c", "a"]) await store.create(start(id));
    const ids = async (one: Store) => (await one.list(OWNER, { kind: "task.list" })).tasks.map(({ id }) => id);
    const listed = await ids(store);
    await store.close?.();
    const before = (await loadLibrary())(file);
    before.exec(`DROP INDEX tasks_listed;
      CREATE INDEX tasks_listed ON tasks (owner, status_at DESC, id, closed, state, context, key); PRAGMA user_version = 5`);
    before.close();
    const again = await open({ file });
    expect([listed, await ids(again)]).toEqual([["a", "b", "c"], listed]);
    await again.close?.();
    const after = (await loadLibrary())(file);
    const index = after.prepare<readonly [string]>("SELECT sql FROM sqlite_schema WHERE name = 'tasks_listed'").get([]);
    expect(index?.[0]).toContain("status_at, id DESC");
    after.close();
  });

  test("keeps its journals", async () => {
    const file = newFile();
    const store = await open({ file });
    await store.create(start("t"));
    await store.append("t", batch(1, 1, [chunk("a"), chunk("b", true)]));
    await store.append("t", batch(1, 3, [status("completed")]));
    await store.close?.();
    const before = (await loadLibrary())(file);
    before.exec(`CREATE TABLE old (task INTEGER NOT NULL, first INTEGER NOT NULL, events TEXT NOT NULL, PRIMARY KEY (task, first)) WITHOUT ROWID;
      INSERT INTO old SELECT task, first, events FROM journal; DROP TABLE journal; ALTER TABLE old RENAME TO journal; PRAGMA user_version = 4`);
    before.close();
    const again = await open({ file });
    expect(await read(again, "t")).toEqual(["1 task submitted", "2 artifact", "3 artifact", "4 status completed"]);
    expect(await read(again, "t", 2, 1)).toEqual(["3 artifact"]);
  });

  test("has the ids of task and session in every entry, and is read with those that have none", async () => {
    const file = newFile();
    const store = await open({ file });
    await store.create(start("t"));
    await store.append("t", batch(1, 1, [chunk("a")]));
    const entries = await entriesOf(store);
    await store.close?.();
    const before = (await loadLibrary())(file);
    const texts = before.prepare<readonly [number, string]>("SELECT at, events FROM journal ORDER BY at").all([]);
    expect(texts.map(([, text]) => text).join()).not.toMatch(/"(taskId|contextId)"/);
    const write = before.prepare("UPDATE journal SET events = ? WHERE at = ?");
    for (const [index, [at]] of texts.entries()) write.run([JSON.stringify(entries[index]), at]);
    before.exec("PRAGMA user_version = 6");
    before.close();
    const again = await open({ file });
    await again.append("t", batch(1, 2, [status("completed")]));
    expect(await entriesOf(again)).toEqual([...entries, { ...status("completed"), metadata: undefined }]);
    await again.close?.();
    const after = (await loadLibrary())(file);
    expect(after.prepare<readonly [number]>("PRAGMA user_version").get([])).toEqual([7]);
    after.close();
  });
});

async function entriesOf(store: Store) {
  return (await store.read("t", OWNER, 0, 10))?.entries.map(({ event }) => event) ?? [];
}
