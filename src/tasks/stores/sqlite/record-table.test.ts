import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, describe, expect, test } from "vitest";
import { OWNER, start } from "../../../../test/helpers/stores/contract-samples.js";
import { compiled } from "../../../../test/programs.js";
import { openSqliteStore } from "../sqlite.js";
import { loadLibrary } from "./library.js";
import { APPLICATION_ID, MIGRATIONS } from "./schema.js";

const folder = mkdtempSync(join(tmpdir(), "koine-sqlite-records-"));
const at = (name: string) => join(folder, name);
const open = (file: string, limits = {}) => openSqliteStore({ file, limits, now: () => 1_000 });
const STORE = compiled("src/public/stores.ts");
const PROCESS_MS = 30_000;
const EACH = 100;

/** Counts and adds as fast as it can, and says which numbers it got and which names it won. */
const COUNTS_AND_ADDS = `
  import { openSqliteStore } from ${JSON.stringify(STORE)};
  const [file, own] = process.argv.slice(1);
  const { records, close } = await openSqliteStore({ file, now: () => 1_000 }).then((store) =>
    ({ records: store.records, close: () => store.close() }));
  const counts = [];
  const won = [];
  for (let n = 0; n < ${EACH}; n += 1) {
    counts.push(await records.count("count"));
    if ((await records.add("name/" + n, { own })) === undefined) won.push(n);
  }
  await close();
  process.stdout.write(JSON.stringify({ counts, won }));
`;

async function inAnotherProcess(file: string, own: string): Promise<{ readonly counts: number[]; readonly won: number[] }> {
  const words = ["--input-type=module", "-e", COUNTS_AND_ADDS, "--", file, own];
  const { stdout } = await promisify(execFile)(process.execPath, words, { timeout: PROCESS_MS });
  return JSON.parse(stdout);
}

afterAll(() => rmSync(folder, { recursive: true }));

describe("records in a file", () => {
  test("are there when it is opened again, ends and counts included", async () => {
    const first = await open(at("again.db"), { keptRecords: 3 });
    await first.records.put("stays", { n: 1 });
    await first.records.put("ends", { n: 2 }, 500);
    await first.records.count("counted");
    await first.close?.();
    const second = await openSqliteStore({ file: at("again.db"), limits: { keptRecords: 3 }, now: () => 1_499 });
    expect(await second.records.list("", 10)).toEqual([
      { key: "counted", value: { count: 1 } },
      { key: "ends", value: { n: 2 } },
      { key: "stays", value: { n: 1 } },
    ]);
    await expect(second.records.put("more", {})).rejects.toMatchObject({ code: "overloaded" });
    await second.close?.();
    const third = await openSqliteStore({ file: at("again.db"), limits: { keptRecords: 3 }, now: () => 1_500 });
    expect(await third.records.get("ends")).toBeUndefined();
    expect(await third.records.count("counted")).toBe(2);
    await third.records.put("more", {});
    await third.close?.();
  });

  test("a file of the first version is migrated, and keeps its tasks", async () => {
    const file = at("first.db");
    const old = (await loadLibrary())(file);
    old.exec(MIGRATIONS[0] ?? "");
    expect(old.prepare("SELECT name FROM sqlite_schema WHERE name LIKE 'records%'").all([])).toEqual([]);
    old.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    old.exec("PRAGMA user_version = 1");
    old.exec("INSERT INTO keys VALUES ('key:ann', 'a', 'k', 'd', 't-1', 2000)");
    old.exec("UPDATE totals SET keys = 1");
    old.close();
    const store = await open(file, { idempotencyKeys: 1 });
    const key = { key: "k", digest: "other", keepMs: 1 };
    expect(await store.create({ ...start("t"), key })).toEqual({ made: false, because: "conflict" });
    expect(await store.create({ ...start("t"), key: { ...key, key: "new" } })).toEqual({ made: false, because: "full" });
    await store.records.put("k", { n: 1 });
    await store.close?.();
    const again = await open(file);
    expect(await again.records.get("k")).toEqual({ n: 1 });
    expect(await again.create(start("t"))).toEqual({ made: true, epoch: 1 });
    expect((await again.facts("t", OWNER))?.seq).toBe(1);
    await again.close?.();
  });

  test(
    "are shared by processes: every number is given once, every name is won once",
    async () => {
      const file = at("shared.db");
      const both = await Promise.all([inAnotherProcess(file, "one"), inAnotherProcess(file, "two")]);
      const counts = both.flatMap((each) => each.counts).sort((a, b) => a - b);
      expect(counts).toEqual(Array.from({ length: 2 * EACH }, (_, n) => n + 1));
      const won = both.flatMap((each) => each.won).sort((a, b) => a - b);
      expect(won).toEqual(Array.from({ length: EACH }, (_, n) => n));
      const store = await open(file);
      expect(await store.records.get("count")).toEqual({ count: 2 * EACH });
      for (const [index, own] of ["one", "two"].entries()) {
        for (const n of both[index]?.won ?? []) expect(await store.records.get(`name/${n}`)).toEqual({ own });
      }
      await store.close?.();
    },
    PROCESS_MS,
  );

  test("are refused after close, as tasks are", async () => {
    const store = await open(at("closed.db"));
    await store.close?.();
    for (const call of [store.records.get("k"), store.records.put("k", {}), store.records.list("", 1)]) {
      await expect(call).rejects.toMatchObject({ code: "unavailable" });
    }
  });
});
