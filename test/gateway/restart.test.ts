import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AgentEvent, RemoteAgent } from "../../src/index.js";
import { protocols } from "../../src/public/protocols.js";
import { type RedisServer, redisAvailable, startRedis } from "../redis-server.js";
import { interfacesOf, type PinnedInterface } from "./pairs/interfaces.js";
import { callerOf, closeCallers, heldBy, nameOf, numbers, piecesOf, Reading, taskOf } from "./processes/callers.js";
import { killProcesses, type OwnProcess, receivedBy, startProcess } from "./processes/start.js";

/** A gateway is killed during work and restarted: reported events stay, and nothing is started twice. */

const withRedis = await redisAvailable();
const folder = mkdtempSync(join(tmpdir(), "koine-gateway-"));
const interfaces = await interfacesOf(protocols);
const withTasks = interfaces.filter(({ traits }) => traits.tasks);
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

/** The agents of the gateway: one per upstream interface, and the same for an upstream that does not deduplicate by key. */
const forgetful = (iface: PinnedInterface): string => `forgetful-${nameOf(iface)}`;
const countingOf = (iface: PinnedInterface): string => `count ${NUMBERS} ${HOLD_AT} ${nameOf(iface)}`;
const endlessOf = (iface: PinnedInterface): string => `count 9 1 never-${nameOf(iface)}`;
const lateOf = (iface: PinnedInterface): string => `late ${nameOf(iface)}`;

/** The work started over one upstream interface. */
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
      ...interfaces.map((iface) => ({ name: nameOf(iface), url: upstream.url, pin: iface.pin })),
      ...withTasks.map((iface) => ({ name: forgetful(iface), url: promisesNothing.url, pin: iface.pin })),
    ];
    const facts = { upstreams, ...store(), leaseMs: LEASE_MS };
    const before = await startProcess("gateway", facts);
    await Promise.all(
      withTasks.map(async (iface) => begun.set(iface, await begin(await callerOf(before.url, nameOf(iface)), iface))),
    );
    // Frozen processes accept a request and do not answer: the upstream task id stays unknown.
    upstream.freeze();
    promisesNothing.freeze();
    await Promise.all([
      ...interfaces.map(async (iface) => late.set(iface, await started(before, nameOf(iface), lateOf(iface)))),
      ...withTasks.map(async (iface) => lost.set(iface, await started(before, forgetful(iface), lateOf(iface)))),
    ]);
    await before.kill();
    upstream.thaw();
    promisesNothing.thaw();
    gateway = await startProcess("gateway", { ...facts, port: before.port });
    for (const iface of interfaces) upstream.writeLine(`go ${nameOf(iface)}`);
  }, START_MS);
  afterAll(async () => {
    await closeCallers();
    await killProcesses();
  });

  async function begin(peer: RemoteAgent, iface: PinnedInterface): Promise<Begun> {
    const reading = new Reading(peer.stream(countingOf(iface)));
    const endless = new Reading(peer.stream(endlessOf(iface)));
    const question = await peer.send(`ask ${nameOf(iface)}`, { session: "talk" });
    await Promise.all([
      reading.until(({ events }) => piecesOf(events).length === HOLD_AT),
      endless.until(({ events }) => piecesOf(events).length === 1),
    ]);
    return { reading, endless: endless.taskId, question: taskOf(question).id };
  }

  async function started(at: OwnProcess, agent: string, text: string): Promise<string> {
    return taskOf(await (await callerOf(at.url, agent)).start(text)).id;
  }

  test.each(withTasks.map((iface) => [iface.pin, iface] as const))(
    "%s: the stream resumes after its cursor, and the upstream was called once",
    async (_pin, iface) => {
      const reading = begun.get(iface)?.reading ?? new Reading(nothing());
      await reading.done;
      expect(reading.broke).toBeInstanceOf(Error);
      const peer = await callerOf(gateway.url, nameOf(iface));
      const rest = new Reading(peer.subscribe(reading.taskId, { after: reading.cursor ?? "" }));
      await rest.done;
      expect([rest.broke, rest.state]).toEqual([undefined, "completed"]);
      const [atCursor, ...news] = rest.events;
      expect(heldBy(atCursor === undefined ? [] : [atCursor])).toEqual(numbers(HOLD_AT));
      expect(heldBy([...reading.events, ...news])).toEqual(numbers(NUMBERS));
      const cursors = [...reading.events, ...news].map(({ cursor }) => cursor);
      expect(new Set(cursors).size).toBe(cursors.length);
      expect(receivedBy(upstream, countingOf(iface))).toHaveLength(1);
    },
    TEST_MS,
  );

  test.each(withTasks.map((iface) => [iface.pin, iface] as const))(
    "%s: an answer to its question, and a cancel, reach the existing task",
    async (_pin, iface) => {
      const { endless = "", question = "" } = begun.get(iface) ?? {};
      const peer = await callerOf(gateway.url, nameOf(iface));
      expect(await peer.ask(`blue ${nameOf(iface)}`, { task: question })).toBe(`heard: blue ${nameOf(iface)}`);
      const [asked] = receivedBy(upstream, `ask ${nameOf(iface)}`);
      expect(receivedBy(upstream, `blue ${nameOf(iface)}`)).toMatchObject([{ turn: 2, session: asked?.session }]);
      expect((await peer.cancelTask(endless)).status.state).toBe("canceled");
      await upstream.lineStarting(`stopped ${endlessOf(iface)}`);
      expect(receivedBy(upstream, endlessOf(iface))).toHaveLength(1);
    },
    TEST_MS,
  );

  test.each(interfaces.filter(({ traits }) => traits.idempotentSend).map((iface) => [iface.pin, iface] as const))(
    "%s: sent again with the same key if the task id was unknown, and it ran once",
    async (_pin, iface) => {
      const peer = await callerOf(gateway.url, nameOf(iface));
      const status = async () => (await peer.getTask(late.get(iface) ?? "")).status;
      await expect.poll(status, { timeout: SETTLED_MS }).toMatchObject({ state: "completed" });
      expect(receivedBy(upstream, lateOf(iface))).toHaveLength(1);
    },
    TEST_MS,
  );

  test.each(withTasks.map((iface) => [iface.pin, iface] as const))(
    "%s: failed if the task id was unknown and the upstream does not deduplicate, and never run twice",
    async (_pin, iface) => {
      const peer = await callerOf(gateway.url, forgetful(iface));
      const status = async () => (await peer.getTask(lost.get(iface) ?? "")).status;
      await expect.poll(status, { timeout: SETTLED_MS }).toMatchObject({ state: "failed", error: { code: "lost_place" } });
      expect(receivedBy(promisesNothing, lateOf(iface)).length).toBeLessThanOrEqual(1);
    },
    TEST_MS,
  );
});

async function* nothing(): AsyncGenerator<AgentEvent, void, void> {}
