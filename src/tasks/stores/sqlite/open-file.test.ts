import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { batch, OWNER, start, status } from "../../../../test/helpers/stores/contract-samples.js";
import { openSqliteStore } from "../sqlite.js";
import { loadLibrary } from "./library.js";

const folder = mkdtempSync(join(tmpdir(), "koine-sqlite-file-"));
const at = (name: string) => join(folder, name);
const open = (file: string) => openSqliteStore({ file, now: () => 1_000 });

afterAll(() => rmSync(folder, { recursive: true }));

describe("openFile()", () => {
  test("makes the folder and the file, for this user alone", async () => {
    const file = at("new/folder/tasks.db");
    const store = await open(file);
    await store.create(start("t"));
    const modes = [file, `${file}-wal`, at("new/folder")].map((path) => statSync(path).mode & 0o777);
    await store.close?.();
    expect(modes).toEqual([0o600, 0o600, 0o700]);
  });

  test("data is there when the file is opened again", async () => {
    const file = at("again.db");
    const first = await open(file);
    await first.create({ ...start("t"), key: { key: "k", digest: "d", keepMs: 1_000 } });
    await first.append("t", { ...batch(1, 1, [status("input-required", "which?")]), state: { n: 1 } });
    await first.close?.();
    const second = await open(file);
    expect((await second.snapshot("t", OWNER))?.task.status.state).toBe("input-required");
    const again = await second.create({ ...start("u"), key: { key: "k", digest: "d", keepMs: 1_000 } });
    expect(again).toEqual({ made: false, because: "repeated", taskId: "t" });
    const resumed = await second.resume("t", OWNER, start("x").task.history[0] ?? expect.fail(), { holder: "h", leaseMs: 1 });
    expect(resumed).toMatchObject({ ok: true, epoch: 2, state: { n: 1 } });
    await second.close?.();
  });

  test("the log is in the file after close", async () => {
    const store = await open(at("log.db"));
    await store.create(start("t"));
    await store.close?.();
    expect(statSync(at("log.db-wal"), { throwIfNoEntry: false })?.size ?? 0).toBe(0);
    expect(statSync(at("log.db")).size).toBeGreaterThan(0);
  });

  test("rejects an empty file where a store was, and leaves it unchanged", async () => {
    const store = await open(at("emptied.db"));
    await store.create(start("t"));
    await store.close?.();
    truncateSync(at("emptied.db"));
    await expect(open(at("emptied.db"))).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/is empty: put back a copy of it, or delete the file/),
    });
    expect(statSync(at("emptied.db")).size).toBe(0);
  });

  test("rejects a file that is no database, and leaves it unchanged", async () => {
    writeFileSync(at("letter.txt"), "Dear Ann, ".repeat(1_000));
    await expect(open(at("letter.txt"))).rejects.toMatchObject({ code: "unsupported", message: /is no task store/ });
    expect(readFileSync(at("letter.txt"), "utf8")).toBe("Dear Ann, ".repeat(1_000));
  });

  test("refuses another program's database, and leaves it as it is", async () => {
    const other = (await loadLibrary())(at("other.db"));
    other.exec("CREATE TABLE songs (name TEXT)");
    await expect(open(at("other.db"))).rejects.toMatchObject({ code: "unsupported" });
    const tables = other.prepare<readonly [string]>("SELECT name FROM sqlite_schema").all([]);
    expect([tables, other.prepare<readonly [string]>("PRAGMA journal_mode").get([])]).toEqual([[["songs"]], ["delete"]]);
    other.close();
  });

  test("refuses a file of a newer version", async () => {
    await (await open(at("newer.db"))).close?.();
    const newer = (await loadLibrary())(at("newer.db"));
    newer.exec("PRAGMA user_version = 99");
    newer.close();
    await expect(open(at("newer.db"))).rejects.toMatchObject({ code: "unsupported_version", message: /newer version \(99/ });
  });

  test("reports the problem of an unwritable path", async () => {
    writeFileSync(at("file"), "");
    await expect(open(at("file/tasks.db"))).rejects.toMatchObject({ code: "unavailable" });
    await expect(open(folder)).rejects.toMatchObject({ code: "unavailable", message: /EISDIR/ });
  });

  test("names the missing package", async () => {
    const missing = () => Promise.reject(Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" }));
    await expect(loadLibrary(missing)).rejects.toMatchObject({ code: "unsupported", message: /npm install libsql/ });
  });

  test("a damaged file is an error of ours, for every call, and no crash", async () => {
    const file = at("damaged.db");
    const store = await open(file);
    for (let n = 0; n < 200; n += 1) await store.create(start(`t${n}`));
    await store.close?.();
    const bytes = readFileSync(file);
    bytes.fill(0x5a, 4_096 * 2);
    writeFileSync(file, bytes);
    const failures = await open(file).then(
      async (damaged) => {
        const calls = [damaged.create(start("x")), damaged.list(OWNER, { kind: "task.list" }), damaged.facts("t1", OWNER)];
        const settled = await Promise.allSettled(calls);
        await damaged.close?.();
        return settled.map((one) => (one.status === "rejected" ? one.reason : undefined));
      },
      (refused) => [refused],
    );
    for (const failure of failures) expect(failure).toMatchObject({ code: "internal", message: /damaged\.db is damaged/ });
  });

  test("describes what survives a crash", async () => {
    const normal = await open(at("n.db"));
    const full = await openSqliteStore({ file: at("f.db"), now: () => 1_000, synchronous: "full" });
    expect(normal.durability).toBe(
      `in ${at("n.db")}: survives the end of this process; with synchronous=normal a power cut may lose the last moments`,
    );
    expect(full.durability).toContain("a power cut");
    expect((await full.create(start("t"))).made).toBe(true);
    await normal.close?.();
    await full.close?.();
  });
});
