import { copyFileSync, openSync, readFileSync, writeSync } from "node:fs";
import { AgentError } from "../../src/index.js";
import { openSqliteStore, type Store } from "../../src/public/stores.js";

/** Reads damaged copies of a store, each damaged at other places. Run as a process: a native abort ends it. */

/** What a child is asked to do. */
export interface DamageFacts {
  /** The intact store, checkpointed. */
  readonly file: string;
  readonly owner: string;
  readonly taskIds: readonly string[];
  readonly seeds: readonly number[];
  /** Places that are overwritten in each copy. */
  readonly places: number;
}

/** What was found in one damaged copy. */
export interface DamageReport {
  readonly seed: number;
  /** The code with which opening failed; undefined if it was opened. */
  readonly opening: string | undefined;
  /** Tasks that were read as they were written. */
  readonly intact: number;
  /** The codes of all errors. */
  readonly codes: readonly string[];
}

const PAGE = 4096;
/** The longest place that is overwritten. */
const LONGEST = 48;

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Overwrites bytes behind the first page: a damaged header is another error, which is one at opening. */
function damage(file: string, seed: number, places: number): void {
  const random = randomFrom(seed);
  const size = readFileSync(file).length;
  const handle = openSync(file, "r+");
  for (let place = 0; place < places; place++) {
    const at = PAGE + Math.floor(random() * (size - PAGE));
    // Half of them invalid as UTF-8, half arbitrary.
    const bytes = Buffer.from(
      Array.from({ length: 1 + Math.floor(random() * LONGEST) }, () => (place % 2 === 0 ? 0xff : Math.floor(random() * 256))),
    );
    writeSync(handle, bytes, 0, Math.min(bytes.length, size - at), at);
  }
}

async function readAll(store: Store, { taskIds, owner }: DamageFacts): Promise<Omit<DamageReport, "seed" | "opening">> {
  const codes: string[] = [];
  const attempt = async <T>(work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (thrown) {
      codes.push(thrown instanceof AgentError ? thrown.code : `not an AgentError: ${String(thrown)}`);
      return undefined;
    }
  };
  let intact = 0;
  for (const taskId of taskIds) {
    const found = await attempt(() => store.snapshot(taskId, owner));
    if (found !== undefined && JSON.stringify(found.task.history).includes(`"${taskId} ${"ü".repeat(300)}"`)) intact++;
    await attempt(async () => store.read(taskId, owner, 0, 10));
    await attempt(() => store.facts(taskId, owner));
  }
  await attempt(() => store.list(owner, { kind: "task.list", pageSize: 100 }));
  await attempt(() => store.takeOver({ holder: "other", leaseMs: 1 }, 100));
  await attempt(() => store.records.list("", 100));
  await attempt(() => store.duePushes({ holder: "other", leaseMs: 1 }, 100));
  return { intact, codes };
}

async function reportOf(facts: DamageFacts, seed: number): Promise<DamageReport> {
  const copy = `${facts.file}-damaged-${seed}.db`;
  copyFileSync(facts.file, copy);
  damage(copy, seed, facts.places);
  try {
    const store = await openSqliteStore({ file: copy, now: () => 2_000_000 });
    const found = await readAll(store, facts);
    await store.close?.();
    return { seed, opening: undefined, ...found };
  } catch (thrown) {
    const opening = thrown instanceof AgentError ? thrown.code : `not an AgentError: ${String(thrown)}`;
    return { seed, opening, intact: 0, codes: [] };
  }
}

const facts = JSON.parse(process.argv[2] ?? "null") as DamageFacts; // given by the test
for (const seed of facts.seeds) process.stdout.write(`${JSON.stringify(await reportOf(facts, seed))}\n`);
