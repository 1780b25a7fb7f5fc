import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { openRedisStore, openSqliteStore, type Store } from "../../src/index.js";
import { createBandit } from "../../src/router/index.js";
import { exited } from "../child-process.js";
import { compiled } from "../programs.js";
import { redisAvailable, startRedis } from "../redis-server.js";
import type { LearnerFacts } from "./bandit-learner.js";

const hasRedis = await redisAvailable();
const CONTEXT = "two-processes";
const OUTCOMES = 150;
/** The sum of so many outcomes of reward 1, each faded by those after it. */
const LEARNED = (1 - 0.9999 ** OUTCOMES) / (1 - 0.9999);

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** One that is ready to begin. */
async function learner(facts: Omit<LearnerFacts, "context" | "outcomes">) {
  const argv = [compiled("test/router/bandit-learner.ts"), JSON.stringify({ ...facts, context: CONTEXT, outcomes: OUTCOMES })];
  const child = spawn(process.execPath, argv, { stdio: ["pipe", "pipe", "inherit"] });
  await once(child.stdout, "data");
  return child;
}

async function learnedBy(place: LearnerFacts["store"], open: () => Promise<Store>): Promise<ReadonlyMap<string, number>> {
  const children = await Promise.all(["a2a", "acp"].map((protocol) => learner({ store: place, protocol })));
  for (const { stdin } of children) stdin.write("go\n");
  await Promise.all(children.map(exited));
  expect(children.map(({ exitCode }) => exitCode)).toEqual([0, 0]);
  const store = await open();
  cleanups.push(() => store.close?.());
  const state = await createBandit({ records: store.records, seed: 1 }).state(CONTEXT);
  return new Map([...state].map(([protocol, { good, bad }]) => [protocol, good + bad]));
}

describe("two processes that learn in one context", () => {
  const expectAll = (learned: ReadonlyMap<string, number>): void => {
    expect([...learned.keys()].sort()).toEqual(["a2a", "acp"]);
    for (const amount of learned.values()) expect(amount).toBeCloseTo(LEARNED, 6);
  };

  it("lose no outcome in SQLite", { timeout: 120_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "koine-bandit-"));
    cleanups.push(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "koine.db");
    expectAll(await learnedBy({ file }, () => openSqliteStore({ file, now: Date.now })));
  });

  it.skipIf(!hasRedis)("lose no outcome in Redis", { timeout: 120_000 }, async () => {
    const server = await startRedis();
    cleanups.push(() => server.stop());
    expectAll(await learnedBy({ redis: server.url }, () => openRedisStore({ url: server.url })));
  });
});
