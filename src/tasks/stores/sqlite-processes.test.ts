import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, test } from "vitest";
import { batch, chunk, OWNER, read, start, status } from "../../../test/helpers/stores/contract-samples.js";
import { compiled } from "../../../test/programs.js";
import type { Maybe } from "../../envelope/index.js";
import type { Store } from "../store.js";
import { loadLibrary } from "./sqlite/library.js";
import { openSqliteStore } from "./sqlite.js";

const folder = mkdtempSync(join(tmpdir(), "koine-sqlite-processes-"));
const STORE = compiled("src/public/stores.ts");
const SAMPLES = compiled("test/helpers/stores/contract-samples.ts");
const children: ChildProcess[] = [];

/** Calls of the store by line: the time they happen at, the method, its arguments. */
const SERVES_CALLS = `
  import { createInterface } from "node:readline";
  import { openSqliteStore } from ${JSON.stringify(STORE)};
  let nowMs = 1_000;
  const store = await openSqliteStore({ file: process.argv[1], now: () => nowMs });
  process.stdout.write("ready\\n");
  for await (const line of createInterface({ input: process.stdin })) {
    const [at, method, args] = JSON.parse(line);
    nowMs = at;
    const answer = await store[method](...args).catch((error) => ({ error: error.message }));
    process.stdout.write(JSON.stringify({ answer }) + "\\n");
  }
`;

/** Appends to several tasks at once until their journals are full, and says each entry only when it was acknowledged. */
const APPENDS = `
  import { writeSync } from "node:fs";
  import { openSqliteStore } from ${JSON.stringify(STORE)};
  import { batch, chunk, start } from ${JSON.stringify(SAMPLES)};
  const [file, round] = process.argv.slice(1);
  const store = await openSqliteStore({ file, now: () => 1_000 });
  const early = async () => {
    for (let number = 0; ; number += 1) {
      const id = round + "early" + number;
      const created = await store.create({ ...start(id), early: true });
      await store.append(id, batch(1, 1, [chunk("2"), chunk("3")]));
      await created.stored;
      writeSync(1, id + " 3\\n");
    }
  };
  await Promise.all(["a", "b", "c", "d", "early"].map(async (name) => {
    if (name === "early") return early();
    const id = round + name;
    await store.create(start(id));
    for (let seq = 1; ; seq += 2) {
      const { ok } = await store.append(id, batch(1, seq, [chunk(String(seq + 1)), chunk(String(seq + 2))]));
      if (!ok) return;
      writeSync(1, id + " " + (seq + 2) + "\\n");
    }
  }));
`;

function run(program: string, args: readonly string[]): ChildProcess {
  const options = ["--input-type=module", "-e", program, "--", ...args];
  const child = spawn(process.execPath, options, { stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  return child;
}

function linesOf(child: ChildProcess): AsyncIterableIterator<string> {
  if (child.stdout === null) throw new Error("the child has no output");
  return createInterface({ input: child.stdout })[Symbol.asyncIterator]();
}

/** A store in another process, called as if it were here; `at` is the time there. */
async function openElsewhere(file: string) {
  const child = run(SERVES_CALLS, [file]);
  const lines = linesOf(child);
  expect((await lines.next()).value).toBe("ready");
  return {
    async call<M extends keyof Store>(
      at: number,
      method: M,
      ...args: Parameters<Extract<Store[M], (...args: never) => unknown>>
    ) {
      child.stdin?.write(`${JSON.stringify([at, method, args])}\n`);
      const line = await lines.next();
      return JSON.parse(String(line.value)).answer;
    },
    async end() {
      child.stdin?.end();
      await once(child, "exit");
    },
  };
}

/** A small generator with a seed, so that a round that failed can be had again. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

afterAll(async () => {
  for (const child of children.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null)) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  rmSync(folder, { recursive: true });
});

describe("a process that is killed while it writes", () => {
  test("loses no entry it has acknowledged, and leaves no gap", async () => {
    const file = join(folder, "killed.db");
    const random = seeded(20_260_301);
    for (let round = 0; round < 4; round += 1) {
      const acknowledged = await appendUntilKilled(file, `${round}-`, 1 + Math.floor(random() * 400));
      const store = await openSqliteStore({ file, now: () => 1_000 });
      for (const [taskId, seq] of acknowledged) expect(await faults(store, taskId, seq)).toEqual([]);
      await store.close?.();
      const connection = (await loadLibrary())(file);
      expect(connection.prepare<readonly [string]>("PRAGMA integrity_check").all([])).toEqual([["ok"]]);
      connection.close();
    }
  }, 60_000);
});

/** The last entry that was acknowledged of each task, when the process was killed after about `lines` of them. */
async function appendUntilKilled(file: string, round: string, lines: number): Promise<ReadonlyMap<string, number>> {
  const child = run(APPENDS, [file, round]);
  const exited = once(child, "exit");
  const acknowledged = new Map<string, number>();
  let count = 0;
  for await (const line of linesOf(child)) {
    const [id, seq] = line.split(" ");
    if (id !== undefined) acknowledged.set(id, Number(seq));
    count += 1;
    if (count === lines) child.kill("SIGKILL");
  }
  expect([count >= lines, (await exited)[1]]).toEqual([true, "SIGKILL"]);
  return acknowledged;
}

/** What is wrong with the journal of a task that is at least `seq` long. */
async function faults(store: Store, taskId: string, seq: number): Promise<readonly string[]> {
  const entries = (await store.read(taskId, OWNER, 0, 1_000_000))?.entries ?? [];
  const wrong = entries.length >= seq ? [] : [`${taskId}: ${entries.length} of ${seq} entries`];
  for (const [index, entry] of entries.entries()) {
    const part = entry.event.kind === "artifact" ? entry.event.artifact.parts[0] : undefined;
    const text = part?.kind === "text" ? part.text : "1";
    if (entry.seq !== index + 1 || text !== String(index + 1)) wrong.push(`${taskId}: ${entry.seq} says ${text}`);
  }
  return wrong;
}

describe("two processes over one file", () => {
  test("a key starts one task; one process takes over a lost task, and the late append of the other is rejected", async () => {
    const file = join(folder, "shared.db");
    let nowMs = 1_000;
    const here = await openSqliteStore({ file, now: () => nowMs });
    const there = await openElsewhere(file);
    for (let n = 0; n < 20; n += 1) {
      const key = { key: `k${n}`, digest: "d", keepMs: 1_000 };
      const made = await Promise.all([
        here.create({ ...start(`here-${n}`), key }),
        there.call(1_000, "create", { ...start(`there-${n}`), key }),
      ]);
      expect(made.filter((each) => each.made).length).toBe(1);
    }
    await here.create({ ...start("t"), lease: { holder: "h-1", leaseMs: 5_000 } });
    expect(await there.call(5_999, "takeOver", { holder: "h-3", leaseMs: 1_000 }, 100)).toHaveLength(20);
    nowMs = 6_000;
    const taken = await Promise.all([
      here.takeOver({ holder: "h-2", leaseMs: 1_000 }, 100),
      there.call(6_000, "takeOver", { holder: "h-3", leaseMs: 1_000 }, 100),
    ]);
    expect(taken.flat().map(({ taskId, epoch }) => [taskId, epoch])).toEqual([["t", 2]]);
    expect(await here.append("t", batch(1, 1, [chunk("late")]))).toEqual({ ok: false, because: "fenced" });
    expect(await there.call(6_000, "append", "t", batch(2, 1, [status("failed")]))).toMatchObject({ ok: true });
    expect(await here.append("t", batch(2, 2, [chunk("late")]))).toEqual({ ok: false, because: "closed" });
    await Promise.all([here.close?.(), there.end()]);
  });

  test("a reader sees appends of another process, and a holder its cancel requests", async () => {
    const file = join(folder, "woken.db");
    const here = await openSqliteStore({ file, now: () => 1_000 });
    const there = await openElsewhere(file);
    await here.create(start("t"));
    let notify: Maybe<() => void>;
    const notified = () =>
      new Promise<void>((resolve) => {
        notify = resolve;
      });
    const off = here.wake("t", () => notify?.());
    for (const seq of [1, 2, 3]) {
      const woken = notified();
      expect(await there.call(1_000, "append", "t", batch(1, seq, [chunk("x", true)]))).toMatchObject({ ok: true });
      await woken;
      expect(await read(here, "t", seq)).toEqual([`${seq + 1} artifact`]);
    }
    off();
    const heard: string[] = [];
    const told = new Promise<void>((resolve) => {
      here.listen?.("h-1", (taskId) => {
        heard.push(taskId);
        resolve();
      });
    });
    expect(await there.call(1_000, "requestCancel", "t", OWNER)).toEqual({ outcome: "notified", holder: "h-1" });
    await told;
    expect(heard).toEqual(["t"]);
    await Promise.all([here.close?.(), there.end()]);
  });

  test("both write as fast as they can, and neither is refused", async () => {
    const file = join(folder, "busy.db");
    const here = await openSqliteStore({ file, now: () => 1_000 });
    const there = await openElsewhere(file);
    const writeHere = async (id: string) => {
      const made = await here.create(start(id));
      const appended = await here.append(id, batch(1, 1, [status("completed")]));
      return made.made && appended.ok;
    };
    const writeThere = async () => {
      const all = [];
      for (let n = 0; n < 100; n += 1) all.push((await there.call(1_000, "create", start(`there-${n}`))).made);
      return all;
    };
    const ids = Array.from({ length: 300 }, (_, n) => `here-${n}`);
    const [ours, theirs] = await Promise.all([Promise.all(ids.map(writeHere)), writeThere()]);
    expect([...ours, ...theirs].filter((ok) => ok !== true)).toEqual([]);
    expect((await here.list(OWNER, { kind: "task.list" })).totalSize).toBe(400);
    await Promise.all([here.close?.(), there.end()]);
  });
});
