import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { describeReplayGuard } from "../../../test/helpers/stores/replay-contract.js";
import { compiled } from "../../../test/programs.js";
import { type RedisServer, redisAvailable, startRedis } from "../../../test/redis-server.js";
import type { ReplayGuard, ReplayLimits } from "../../envelope/index.js";
import type { Store } from "../store.js";
import { createMemoryStore } from "./memory.js";
import { openRedisStore } from "./redis.js";
import { openSqliteStore } from "./sqlite.js";

const folder = mkdtempSync(join(tmpdir(), "koine-replay-guards-"));
const opened: Store[] = [];
let files = 0;

afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close?.()));
});
afterAll(() => rmSync(folder, { recursive: true }));

function guardsOf(stores: readonly Store[], limits: ReplayLimits, now: () => number): readonly ReplayGuard[] {
  opened.push(...stores);
  return stores.map((store) => {
    const guard = store.replayGuard?.(limits, now);
    if (guard === undefined) throw new Error("the store has no replay guard");
    return guard;
  });
}

/** Adds the same 50 nonces as all others do, and says how many it added first. */
const ADDS = (open: string) => `
  import { openRedisStore, openSqliteStore } from ${JSON.stringify(compiled("src/public/stores.ts"))};
  const store = await ${open};
  const guard = store.replayGuard({ replayEntries: 1000, replayEntriesPerSigner: 1000 }, Date.now);
  const until = Date.now() + 600000;
  const added = await Promise.all(Array.from({ length: 50 }, (_, n) => guard.add("ann", "n" + n, until)));
  process.stdout.write(String(added.filter((is) => is).length));
  await store.close();
`;

async function addedBy(processes: number, open: string): Promise<readonly number[]> {
  const run = (): ChildProcess =>
    spawn(process.execPath, ["--input-type=module", "-e", ADDS(open)], { stdio: ["ignore", "pipe", "inherit"] });
  const outputs = Array.from({ length: processes }, run).map(({ stdout }) => (stdout === null ? "" : text(stdout)));
  return (await Promise.all(outputs)).map((output) => Number.parseInt(output, 10));
}

const sum = (counts: readonly number[]): number => counts.reduce((one, other) => one + other, 0);

describeReplayGuard("in SQLite, two connections", {
  async open(limits, now) {
    const file = join(folder, `${++files}.db`);
    return guardsOf(await Promise.all([openSqliteStore({ file, now }), openSqliteStore({ file, now })]), limits, now);
  },
});

describe("a replay guard in SQLite", () => {
  test("remembers after a restart, without a quarantine", async () => {
    const file = join(folder, "restart.db");
    const limits = { replayEntries: 10, replayEntriesPerSigner: 10 };
    const first = await openSqliteStore({ file, now: () => 1_000 });
    expect(await first.replayGuard?.(limits, () => 1_000).add("ann", "n", 9_000, 500)).toBe(true);
    await first.close?.();
    const second = await openSqliteStore({ file, now: () => 1_000 });
    opened.push(second);
    const guard = second.replayGuard?.(limits, () => 1_000);
    expect(await guard?.add("ann", "n", 9_000, 500)).toBe(false);
    expect(await guard?.add("ann", "older than the start", 9_000, 0)).toBe(true);
  });

  test("lets one of several processes pass", async () => {
    const file = join(folder, "processes.db");
    const counts = await addedBy(3, `openSqliteStore({ file: ${JSON.stringify(file)}, now: Date.now })`);
    expect([counts.length, sum(counts)]).toEqual([3, 50]);
  });
});

test("a store in memory has no guard of its own: the server has one that knows when it started", () => {
  expect(createMemoryStore({ now: () => 0 }).replayGuard).toBeUndefined();
});

const available = await redisAvailable();

describe.skipIf(!available)("with Redis", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  describeReplayGuard("in Redis, two connections", {
    async open(limits, now) {
      const options = { url: server.url, prefix: `replay${++files}`, testClock: now };
      return guardsOf(await Promise.all([openRedisStore(options), openRedisStore(options)]), limits, now);
    },
  });

  test("lets one of several processes pass", async () => {
    const counts = await addedBy(3, `openRedisStore({ url: ${JSON.stringify(server.url)}, prefix: "processes" })`);
    expect([counts.length, sum(counts)]).toEqual([3, 50]);
  });
});
