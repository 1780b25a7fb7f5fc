import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { protocols } from "../../src/public/protocols.js";
import { type RedisServer, redisAvailable, startRedis } from "../redis-server.js";
import { interfacesOf } from "./pairs/interfaces.js";
import { callerOf, closeCallers, heldBy, nameOf, numbers, piecesOf, Reading, taskOf } from "./processes/callers.js";
import { killProcesses, type OwnProcess, receivedBy, startProcess } from "./processes/start.js";

/** Two gateways over one store: work of one continues at the other, with the same upstream ids. */

const withRedis = await redisAvailable();
const folder = mkdtempSync(join(tmpdir(), "koine-gateways-"));
const interfaces = await interfacesOf(protocols);
const withTasks = interfaces.filter(({ traits }) => traits.tasks).map((iface) => [iface.pin, iface] as const);
const every = interfaces.map((iface) => [iface.pin, iface] as const);
const LEASE_MS = 1_500;
/** The guarantee: a run that lost its holder is settled within its lease plus this. */
const GRACE_MS = 5_000;
const START_MS = 90_000;
const TEST_MS = 60_000;

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

describe.each(stores)("over %s", (_name, store) => {
  let upstream: OwnProcess;
  let a: OwnProcess;
  let b: OwnProcess;

  beforeAll(async () => {
    upstream = await startProcess("upstream", {});
    const upstreams = interfaces.map((iface) => ({ name: nameOf(iface), url: upstream.url, pin: iface.pin }));
    const facts = { upstreams, ...store(), leaseMs: LEASE_MS };
    [a, b] = await Promise.all([startProcess("gateway", facts), startProcess("gateway", facts)]);
  }, START_MS);
  afterAll(async () => {
    await closeCallers();
    await killProcesses();
  });

  test.each(withTasks)(
    "%s: started at one, read, answered and cancelled at the other",
    async (_pin, iface) => {
      const name = nameOf(iface);
      const [atA, atB] = [await callerOf(a.url, name), await callerOf(b.url, name)];
      const counting = taskOf(await atA.start(`count 5 2 ${name}`)).id;
      const reading = new Reading(atB.subscribe(counting));
      await reading.until(({ events }) => heldBy(events).length === 2);
      upstream.writeLine(`go ${name}`);
      await reading.done;
      expect([reading.broke, heldBy(reading.events), reading.state]).toEqual([undefined, numbers(5), "completed"]);
      expect(receivedBy(upstream, `count 5 2 ${name}`)).toHaveLength(1);

      const question = taskOf(await atA.send(`ask ${name}`)).id;
      expect(await atB.ask(`green ${name}`, { task: question })).toBe(`heard: green ${name}`);
      expect(receivedBy(upstream, `green ${name}`)).toMatchObject([{ turn: 2 }]);

      const endless = new Reading(atA.stream(`count 9 1 never-${name}`));
      await endless.until(({ events }) => piecesOf(events).length === 1);
      expect((await atB.cancelTask(endless.taskId)).status.state).toBe("canceled");
      await endless.done;
      expect([endless.broke, endless.state]).toEqual([undefined, "canceled"]);
      await upstream.lineStarting(`stopped count 9 1 never-${name}`);
    },
    TEST_MS,
  );

  test.each(every)(
    "%s: names chosen by callers are never sent upstream, and are separate per caller",
    async (_pin, iface) => {
      const name = nameOf(iface);
      const chosen = { session: "c-1", key: `key-1-${name}` };
      const texts = { alice: `hello ${name} of alice`, bob: `hello ${name} of bob` };
      const callers = {
        aliceAtA: await callerOf(a.url, name),
        aliceAtB: await callerOf(b.url, name),
        bobAtB: await callerOf(b.url, name, "bob"),
      };
      const one = await callers.aliceAtA.ask(texts.alice, chosen);
      const again = await callers.aliceAtB.ask(texts.alice, chosen);
      const other = await callers.bobAtB.ask(texts.bob, chosen);
      expect([one, again, other]).toEqual([texts.alice, texts.alice, texts.bob]);
      const ofAlice = receivedBy(upstream, texts.alice);
      const [ofBob] = receivedBy(upstream, texts.bob);
      // The same key at the other gateway is the same message.
      expect(ofAlice).toHaveLength(1);
      expect([ofAlice[0]?.session, ofBob?.session]).not.toContain(chosen.session);
      expect([ofAlice[0]?.key, ofBob?.key]).not.toContain(chosen.key);
      expect(ofAlice[0]?.session).not.toBe(ofBob?.session);
      expect(ofAlice[0]?.key === undefined ? "" : ofAlice[0].key).not.toBe(ofBob?.key);
      // A session continues upstream under its name, through either gateway.
      await callers.aliceAtB.ask(`more ${name}`, { session: chosen.session });
      expect(receivedBy(upstream, `more ${name}`)[0]?.session).toBe(ofAlice[0]?.session);
    },
    TEST_MS,
  );

  test(
    "one is killed during work: the other takes over in time, and nothing is started twice",
    async () => {
      const begun = await Promise.all(
        withTasks.map(async ([, iface]) => {
          const peer = await callerOf(a.url, nameOf(iface));
          const reading = new Reading(peer.stream(`count 6 3 left-${nameOf(iface)}`));
          await reading.until(({ events }) => piecesOf(events).length === 3);
          return { iface, reading };
        }),
      );
      const killedAt = Date.now();
      await a.kill();
      for (const { iface } of begun) upstream.writeLine(`go left-${nameOf(iface)}`);
      for (const { iface, reading } of begun) {
        await reading.done;
        const peer = await callerOf(b.url, nameOf(iface));
        const rest = new Reading(peer.subscribe(reading.taskId, { after: reading.cursor ?? "" }));
        await rest.done;
        expect([iface.pin, rest.broke, rest.state]).toEqual([iface.pin, undefined, "completed"]);
        expect([iface.pin, heldBy([...reading.events, ...rest.events.slice(1)])]).toEqual([iface.pin, numbers(6)]);
        expect([iface.pin, receivedBy(upstream, `count 6 3 left-${nameOf(iface)}`).length]).toEqual([iface.pin, 1]);
        const { status } = await peer.getTask(reading.taskId);
        expect(status.at - killedAt).toBeLessThan(LEASE_MS + GRACE_MS);
      }
    },
    TEST_MS,
  );
});
