import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AgentEvent, RemoteAgent } from "../../src/index.js";
import { protocols } from "../../src/public/protocols.js";
import { type RedisServer, redisAvailable, startRedis } from "../redis-server.js";
import { interfacesOf, type PinnedInterface } from "./pairs/interfaces.js";
import { callerOf, closeCallers, heldBy, nameOf, numbers, piecesOf, Reading, taskOf } from "./processes/callers.js";
import { heardBy, killProcesses, type OwnProcess, startProcess } from "./processes/start.js";

/** A gateway is killed in the middle of its work and started again: what was told stays, and nothing is begun twice. */

const withRedis = await redisAvailable();
const folder = mkdtempSync(join(tmpdir(), "koine-gateway-"));
const ways = await interfacesOf(protocols);
const withTasks = ways.filter(({ traits }) => traits.tasks);
const LEASE_MS = 1_000;
const SETTLED_MS = 15_000;
const START_MS = 90_000;
const TEST_MS = 60_000;
const NUMBERS = 6;
const HOLD_AT = 3;

let redis: RedisServer | undefined;
beforeAll(async () => {
  if (withRedis) redis = await startRedis({ appendfsync: "always" });
}, START_MS);
afterAll(async () => {
  await redis?.stop();
  rmSync(folder, { recursive: true });
});

const stores: readonly (readonly [string, () => { readonly file?: string; readonly redisUrl?: string }])[] = [
  ["a file", () => ({ file: join(folder, "tasks.db") })],
  ...(withRedis ? [["Redis", () => ({ redisUrl: redis?.url ?? "" })] as const] : []),
];

/** The agents of the gateway: one for each way to the agent behind, and the same for one that promises nothing of keys. */
const forgetful = (way: PinnedInterface): string => `forgetful-${nameOf(way)}`;
const countingOf = (way: PinnedInterface): string => `count ${NUMBERS} ${HOLD_AT} ${nameOf(way)}`;
const endlessOf = (way: PinnedInterface): string => `count 9 1 never-${nameOf(way)}`;
const lateOf = (way: PinnedInterface): string => `late ${nameOf(way)}`;

/** What was begun at a gateway by one way to the agent behind it. */
interface Begun {
  readonly reading: Reading;
  readonly endless: string;
  readonly question: string;
}

describe.each(stores)("over %s", (_name, store) => {
  let upstream: OwnProcess;
  let promisesNothing: OwnProcess;
  let gateway: OwnProcess;
  const begun = new Map<PinnedInterface, Begun>();
  const late = new Map<PinnedInterface, string>();
  const lost = new Map<PinnedInterface, string>();

  beforeAll(async () => {
    [upstream, promisesNothing] = await Promise.all([
      startProcess("upstream", {}),
      startProcess("upstream", { idempotent: false }),
    ]);
    const upstreams = [
      ...ways.map((way) => ({ name: nameOf(way), url: upstream.url, pin: way.pin })),
      ...withTasks.map((way) => ({ name: forgetful(way), url: promisesNothing.url, pin: way.pin })),
    ];
    const facts = { upstreams, ...store(), leaseMs: LEASE_MS };
    const before = await startProcess("gateway", facts);
    await Promise.all(withTasks.map(async (way) => begun.set(way, await begin(await callerOf(before.url, nameOf(way)), way))));
    // Frozen, they take a request and say nothing: nobody learns what they call the task.
    upstream.freeze();
    promisesNothing.freeze();
    await Promise.all([
      ...ways.map(async (way) => late.set(way, await started(before, nameOf(way), lateOf(way)))),
      ...withTasks.map(async (way) => lost.set(way, await started(before, forgetful(way), lateOf(way)))),
    ]);
    await before.kill();
    upstream.thaw();
    promisesNothing.thaw();
    gateway = await startProcess("gateway", { ...facts, port: before.port });
    for (const way of ways) upstream.tell(`go ${nameOf(way)}`);
  }, START_MS);
  afterAll(async () => {
    await closeCallers();
    await killProcesses();
  });

  async function begin(peer: RemoteAgent, way: PinnedInterface): Promise<Begun> {
    const reading = new Reading(peer.stream(countingOf(way)));
    const endless = new Reading(peer.stream(endlessOf(way)));
    const question = await peer.send(`ask ${nameOf(way)}`, { session: "talk" });
    await Promise.all([
      reading.until(({ events }) => piecesOf(events).length === HOLD_AT),
      endless.until(({ events }) => piecesOf(events).length === 1),
    ]);
    return { reading, endless: endless.taskId, question: taskOf(question).id };
  }

  async function started(at: OwnProcess, agent: string, text: string): Promise<string> {
    return taskOf(await (await callerOf(at.url, agent)).start(text)).id;
  }

  test.each(withTasks.map((way) => [way.pin, way] as const))(
    "%s: the stream is taken up behind its cursor, and the agent behind was asked once",
    async (_pin, way) => {
      const reading = begun.get(way)?.reading ?? new Reading(nothing());
      await reading.done;
      expect(reading.broke).toBeInstanceOf(Error);
      const peer = await callerOf(gateway.url, nameOf(way));
      const rest = new Reading(peer.subscribe(reading.taskId, { after: reading.cursor ?? "" }));
      await rest.done;
      expect([rest.broke, rest.state]).toEqual([undefined, "completed"]);
      const [atCursor, ...news] = rest.events;
      expect(heldBy(atCursor === undefined ? [] : [atCursor])).toEqual(numbers(HOLD_AT));
      expect(heldBy([...reading.events, ...news])).toEqual(numbers(NUMBERS));
      const cursors = [...reading.events, ...news].map(({ cursor }) => cursor);
      expect(new Set(cursors).size).toBe(cursors.length);
      expect(heardBy(upstream, countingOf(way))).toHaveLength(1);
    },
    TEST_MS,
  );

  test.each(withTasks.map((way) => [way.pin, way] as const))(
    "%s: an answer to its question, and a cancel, reach the task that was there before",
    async (_pin, way) => {
      const { endless = "", question = "" } = begun.get(way) ?? {};
      const peer = await callerOf(gateway.url, nameOf(way));
      expect(await peer.ask(`blue ${nameOf(way)}`, { task: question })).toBe(`heard: blue ${nameOf(way)}`);
      const [asked] = heardBy(upstream, `ask ${nameOf(way)}`);
      expect(heardBy(upstream, `blue ${nameOf(way)}`)).toMatchObject([{ turn: 2, session: asked?.session }]);
      expect((await peer.cancelTask(endless)).status.state).toBe("canceled");
      await upstream.saying(`stopped ${endlessOf(way)}`);
      expect(heardBy(upstream, endlessOf(way))).toHaveLength(1);
    },
    TEST_MS,
  );

  test.each(ways.filter(({ traits }) => traits.idempotentSend).map((way) => [way.pin, way] as const))(
    "%s: asked again by the same key where the task had no name yet, and it ran once",
    async (_pin, way) => {
      const peer = await callerOf(gateway.url, nameOf(way));
      const status = async () => (await peer.getTask(late.get(way) ?? "")).status;
      await expect.poll(status, { timeout: SETTLED_MS }).toMatchObject({ state: "completed" });
      expect(heardBy(upstream, lateOf(way))).toHaveLength(1);
    },
    TEST_MS,
  );

  test.each(withTasks.map((way) => [way.pin, way] as const))(
    "%s: lost where the task had no name yet and nothing is promised of keys, and never run twice",
    async (_pin, way) => {
      const peer = await callerOf(gateway.url, forgetful(way));
      const status = async () => (await peer.getTask(lost.get(way) ?? "")).status;
      await expect.poll(status, { timeout: SETTLED_MS }).toMatchObject({ state: "failed", error: { code: "lost_place" } });
      expect(heardBy(promisesNothing, lateOf(way)).length).toBeLessThanOrEqual(1);
    },
    TEST_MS,
  );
});

async function* nothing(): AsyncGenerator<AgentEvent, void, void> {}
