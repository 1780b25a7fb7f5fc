import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { batch, chunk, LEASE, message, OWNER, shape, start } from "../../../test/helpers/stores/contract-samples.js";
import { storeKeyFolder } from "../../../test/helpers/stores/sealed.js";
import { storeContract } from "../../../test/helpers/stores/store-contract.js";
import { openStoreSeal, rotateStoreKeys } from "../../security/at-rest/index.js";
import type { TaskLimits } from "../limits.js";
import type { Store } from "../store.js";
import { loadLibrary } from "./sqlite/library.js";
import { openSqliteStore, type SqliteStoreOptions } from "./sqlite.js";

const keys = storeKeyFolder();
const opened: Store[] = [];
let files = 0;

afterAll(() => Promise.all(opened.map((store) => store.close?.())));

function newFile(): string {
  files += 1;
  return join(keys.folder, `${files}.db`);
}

async function open(options: Partial<SqliteStoreOptions>) {
  const store = await openSqliteStore({ file: newFile(), now: () => 1_000, ...options });
  opened.push(store);
  return store;
}

describe("a sealed SQLite store", () => {
  async function makeStore(limits: Partial<TaskLimits>) {
    let nowMs = 1_000;
    const store = await open({ limits, now: () => nowMs, seal: await keys.newSeal() });
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
});

const PUSH = { id: "p", taskId: "t", url: "https://hook.example/x", token: "hook-token" };

/** A task with everything that has content: entries, messages, saved state, a snapshot, a webhook. */
async function fill(file: string, keyFile: string): Promise<void> {
  const store = await openSqliteStore({
    file,
    now: () => 1_000,
    limits: { entriesPerSnapshot: 2 },
    seal: openStoreSeal(keyFile),
  });
  await store.create({ ...start("t"), push: PUSH });
  await store.enqueue("t", OWNER, message("first"));
  await store.enqueue("t", OWNER, message("second"));
  await store.append("t", { ...batch(1, 1, [chunk("a"), chunk("b", true)]), state: { secret: "saved" } });
  await store.append("t", batch(1, 3, [chunk("c", true)]));
  await store.create(start("u"));
  await store.append("u", batch(1, 1, [chunk("other")]));
  await store.close?.();
}

/** Changes the file as somebody would who has it, and not the key. */
async function change(file: string, sql: string): Promise<void> {
  const connection = (await loadLibrary())(file);
  connection.exec(sql);
  connection.close();
}

async function filled() {
  const [file, keyFile] = [newFile(), await keys.newFile()];
  await fill(file, keyFile);
  return { file, keyFile };
}

/** What the store does with a changed file: the code and the words of the error, and how much was counted. */
async function refusalOf(
  { file, keyFile }: { readonly file: string; readonly keyFile: string },
  ask: (store: Store) => Promise<unknown>,
) {
  const refused: string[] = [];
  const seal = openStoreSeal(keyFile, { onRefused: (taskId, problem) => refused.push(`${taskId} ${problem}`) });
  const store = await open({ file, seal });
  const error = await ask(store).then(
    (value) => ({ message: `read: ${JSON.stringify(value)}` }),
    (thrown: Error) => thrown,
  );
  return { words: error.message, refused, counted: store.refusedContent };
}

const snapshot = (store: Store) => store.snapshot("t", OWNER);
const read = async (store: Store) => store.read("t", OWNER, 0, 100);
const FLIP = (column: string) =>
  `substr(${column}, 1, length(${column}) - 1) || CASE WHEN ${column} LIKE '%A' THEN 'Q' ELSE 'A' END`;

describe("content of a sealed file", () => {
  test("is read back as it was written", async () => {
    const { file, keyFile } = await filled();
    const store = await open({ file, seal: openStoreSeal(keyFile) });
    expect(shape(await snapshot(store))).toEqual({
      seq: 4,
      state: "submitted",
      text: "abc",
      history: ["hello", "first", "second"],
    });
    expect((await store.facts("t", OWNER))?.saved).toEqual({ secret: "saved" });
    expect(await store.pushes("t", OWNER)).toMatchObject([PUSH]);
    expect([store.sealed, store.refusedContent]).toEqual([true, 0]);
  });

  const CHANGED = "content of task t in the task store was changed, or is not in its place: it is refused";
  test.each([
    ["a byte of an entry", `UPDATE journal SET events = ${FLIP("events")} WHERE first = 4`, read, CHANGED],
    [
      "a byte of a message",
      `UPDATE heard SET message = ${FLIP("message")} WHERE n = 2`,
      (store: Store) => store.nextTurn("t", 1, 1).then(() => store.nextTurn("t", 1, 2)),
      CHANGED,
    ],
    ["a byte of a snapshot", `UPDATE snapshots SET body = ${FLIP("body")}`, snapshot, CHANGED],
    [
      "a byte of the saved state",
      `UPDATE saved SET value = ${FLIP("value")}`,
      (store: Store) => store.facts("t", OWNER),
      CHANGED,
    ],
    ["a byte of a webhook", `UPDATE pushes SET config = ${FLIP("config")}`, (store: Store) => store.pushes("t", OWNER), CHANGED],
    [
      "an entry cut off",
      "UPDATE journal SET events = substr(events, 1, 40) WHERE first = 4",
      read,
      "content of task t in the task store was cut off: it is refused",
    ],
    [
      "entries in another order",
      "UPDATE journal SET events = (SELECT events FROM journal j WHERE j.task = journal.task AND j.first = 1) WHERE first = 4",
      read,
      CHANGED,
    ],
    [
      "entries of a batch in another order",
      "UPDATE journal SET events = substr(events, instr(events, char(10)) + 1) || char(10) || substr(events, 1, instr(events, char(10)) - 1) WHERE first = 2 AND instr(events, char(10)) > 0",
      read,
      CHANGED,
    ],
    [
      "an entry of another task",
      "UPDATE journal SET events = (SELECT events FROM journal j WHERE j.task = 2 AND j.first = 2) WHERE task = 1 AND first = 4",
      read,
      CHANGED,
    ],
    [
      "messages in another order",
      "UPDATE heard SET message = (SELECT message FROM heard h WHERE h.task = heard.task AND h.n = 3 - heard.n)",
      (store: Store) => store.nextTurn("t", 1, 1),
      CHANGED,
    ],
    ["a message after another entry", "DELETE FROM snapshots; UPDATE heard SET after = 3", snapshot, CHANGED],
    [
      "an entry in clear",
      `UPDATE journal SET events = '{"kind":"artifact","taskId":"t","contextId":"c","artifact":{"id":"r","parts":[{"kind":"text","text":"forged"}]},"append":false,"last":false}' WHERE first = 4`,
      read,
      "content of task t in the task store is not sealed: it is refused",
    ],
    [
      "an entry that is gone",
      "DELETE FROM journal WHERE first = 4",
      read,
      "content of task t in the task store has 3 entries where 4 were written: it is refused",
    ],
  ])("is refused and counted: %s", async (_, sql, ask, words) => {
    const made = await filled();
    await change(made.file, sql);
    const found = await refusalOf(made, ask);
    expect(found.words).toBe(words);
    expect(found.refused.length).toBe(1);
    expect(found.counted).toBe(1);
  });

  test("is not shown to another owner, whom somebody made the owner of its row", async () => {
    const made = await filled();
    await change(made.file, "UPDATE tasks SET owner = 'key:eve' WHERE id = 't'");
    expect((await refusalOf(made, (store) => store.snapshot("t", "key:eve"))).words).toBe(CHANGED);
  });

  test("is of its own session, whatever somebody wrote into its row", async () => {
    const { file, keyFile } = await filled();
    await change(file, "UPDATE tasks SET context = 'other' WHERE id = 't'");
    const page = await (await open({ file, seal: openStoreSeal(keyFile) })).read("t", OWNER, 1, 100);
    expect(page?.entries.map(({ event }) => event.kind === "artifact" && event.contextId)).toEqual(["c", "c", "c"]);
  });

  test("is refused for one task, and others are served", async () => {
    const made = await filled();
    await change(made.file, `UPDATE journal SET events = ${FLIP("events")} WHERE task = 1`);
    const found = await refusalOf(made, (store) => store.snapshot("u", OWNER));
    expect(found.words).toContain("other");
  });

  test("does not stop the work of other tasks", async () => {
    const made = await filled();
    await change(
      made.file,
      `UPDATE heard SET message = ${FLIP("message")}; UPDATE pushes SET config = ${FLIP("config")}; UPDATE tasks SET waiting = 0`,
    );
    const store = await open({ file: made.file, now: () => 10_000, seal: openStoreSeal(made.keyFile) });
    expect((await store.takeOver(LEASE, 10)).map(({ taskId }) => taskId)).toEqual(["u"]);
    expect((await store.facts("t", OWNER))?.state).toBe("failed");
    expect(await store.duePushes(LEASE, 10)).toEqual([]);
  });
});

describe("the keys of a sealed file", () => {
  test("are needed to open it, except for its records", async () => {
    const { file } = await filled();
    await expect(open({ file })).rejects.toThrow("the task store is sealed, and can be opened with the file of its keys only");
    const store = await open({ file, recordsOnly: true });
    await store.records.put("a", { b: 1 });
    expect(await store.records.get("a")).toEqual({ b: 1 });
    await expect(store.snapshot("u", OWNER)).rejects.toThrow(
      "task u is sealed in the task store, which was opened without its keys",
    );
  });

  test("must be the right ones", async () => {
    const { file } = await filled();
    const other = await keys.newFile();
    await expect(open({ file, seal: openStoreSeal(other) })).rejects.toThrow(
      /^the task store is sealed with the key \S{8}, which is not in \S+\.store-keys; all processes need the same file of keys$/,
    );
  });

  test("must be there, and are not made anew for a sealed file", async () => {
    const { file, keyFile } = await filled();
    rmSync(keyFile);
    await expect(open({ file, seal: openStoreSeal(keyFile, { create: true }) })).rejects.toThrow(
      /store-keys does not exist; put it back from a copy/,
    );
  });

  test("are made for a new file if asked for", async () => {
    const keyFile = join(keys.folder, "made.store-keys");
    await expect(open({ seal: openStoreSeal(keyFile) })).rejects.toThrow(/does not exist/);
    const store = await open({ seal: openStoreSeal(keyFile, { create: true }) });
    expect(store.sealed).toBe(true);
  });

  test("are rotated: old content stays readable, and new content has the new key", async () => {
    let nowMs = Date.UTC(2026, 0, 1);
    const now = () => nowMs;
    const [file, keyFile] = [newFile(), await keys.newFile(now)];
    const seal = () => openStoreSeal(keyFile, { now });
    const store = await openSqliteStore({ file, now, seal: seal() });
    await store.create(start("t"));
    await store.close?.();
    const ids = (await rotateStoreKeys(keyFile, now)).list().map(({ id }) => id);
    const early = await openSqliteStore({ file, now, seal: seal() });
    await early.append("t", batch(1, 1, [chunk("a")]));
    await early.close?.();
    nowMs += 60_000;
    const late = await open({ file, now, seal: seal() });
    await late.append("t", batch(1, 2, [chunk("b", true)]));
    expect(shape(await late.snapshot("t", OWNER))).toMatchObject({ seq: 3, text: "ab" });
    const connection = (await loadLibrary())(file);
    const texts = connection.prepare<readonly [string]>("SELECT events FROM journal ORDER BY first").all([]);
    connection.close();
    expect(texts.map(([text]) => text.split(".")[1])).toEqual([ids[0], ids[0], ids[1]]);
  });

  test("do not seal a file with tasks in clear, unless those are accepted", async () => {
    const file = newFile();
    const clear = await openSqliteStore({ file, now: () => 1_000 });
    await clear.create(start("t"));
    await clear.close?.();
    const keyFile = await keys.newFile();
    await expect(open({ file, seal: openStoreSeal(keyFile) })).rejects.toThrow("the task store has tasks that are not sealed");
    const mixed = await openSqliteStore({ file, now: () => 1_000, seal: openStoreSeal(keyFile, { acceptsClear: true }) });
    expect(shape(await mixed.snapshot("t", OWNER))?.history).toEqual(["hello"]);
    await mixed.create(start("u"));
    await mixed.close?.();
    const strict = await open({ file, seal: openStoreSeal(keyFile) });
    expect(shape(await strict.snapshot("u", OWNER))?.history).toEqual(["hello"]);
    await expect(strict.snapshot("t", OWNER)).rejects.toThrow("content of task t in the task store is not sealed: it is refused");
  });
});
