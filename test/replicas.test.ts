import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AgentError, connect, DiscoveryCache, type RemoteAgent } from "../src/index.js";
import { Hook } from "./push-hook.js";
import { type RedisServer, redisAvailable, startRedis } from "./redis-server.js";
import {
  ended,
  killReplicas,
  numbersOf,
  type Received,
  type ReplicaProcess,
  readTask,
  startReplica,
  upTo,
} from "./replica-process.js";

const available = await redisAvailable();
const LEASE_MS = 2_000;
/** A run that lost its holder is settled within its lease and this. */
const GRACE_MS = 10_000;
const WAIT_MS = 15_000;
/** For runs whose lease must survive a restart of Redis, however long it takes. */
const LONG_LEASE_MS = 60_000;

describe.skipIf(!available)("replicas on one Redis", () => {
  let redis: RedisServer;
  let a: ReplicaProcess;
  let b: ReplicaProcess;
  let c: ReplicaProcess;
  const peers: RemoteAgent[] = [];

  const start = (facts: { readonly push?: boolean; readonly leaseMs?: number } = {}) =>
    startReplica({ redisUrl: redis.url, leaseMs: LEASE_MS, ...facts });

  /** A task with this gate sends its second half once the gate is open: no test depends on how long a step takes. */
  let folder: string;
  const gateNamed = (name: string) => {
    const file = join(folder, name);
    return { file, open: () => writeFileSync(file, "") };
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "koine-replicas-"));
    redis = await startRedis({ appendfsync: "always" });
    [a, b, c] = await Promise.all([start(), start(), start()]);
  }, 60_000);
  afterAll(async () => {
    await Promise.all(peers.map((peer) => peer.close()));
    await killReplicas();
    await redis?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  async function peerOf({ url }: ReplicaProcess, name?: string): Promise<RemoteAgent> {
    const peer = await connect(name === undefined ? url : `${url}/a2a/${name}`, {
      discoveryCache: new DiscoveryCache(),
      resume: false,
    });
    peers.push(peer);
    return peer;
  }

  async function started(peer: RemoteAgent, text: string, options: { readonly key?: string } = {}): Promise<string> {
    const event = await peer.start(text, options);
    if (event.kind !== "task") throw new Error(`expected a task, got a ${event.kind}`);
    return event.task.id;
  }

  /** A reader that has received at least one number. */
  async function startReading(peer: RemoteAgent, taskId: string): Promise<{ readonly end: Promise<Received> }> {
    const numbers: string[] = [];
    const end = readTask(peer, taskId, undefined, numbers);
    await expect.poll(() => numbers.length, { timeout: WAIT_MS, interval: 10 }).toBeGreaterThan(0);
    return { end };
  }

  async function lastOf<T>(events: AsyncIterator<T>): Promise<T | undefined> {
    let last: T | undefined;
    for (let step = await events.next(); step.done !== true; step = await events.next()) last = step.value;
    return last;
  }

  test("every replica serves every task; a cancel reaches the process that runs it", async () => {
    const [first, second, third] = [await peerOf(a), await peerOf(b), await peerOf(c)];
    const gate = gateNamed("any");
    const taskId = await started(first, `6 20 0 ${gate.file}`);
    expect((await third.listTasks({ pageSize: 100 })).tasks.map(({ id }) => id)).toContain(taskId);
    const reading = await startReading(second, taskId);
    gate.open();
    expect(await reading.end).toMatchObject({ numbers: upTo(6), state: "completed", broke: undefined });
    const endless = await started(first, "100000 50 0");
    const watching = third.subscribe(endless)[Symbol.asyncIterator]();
    // A task that has ended cannot be subscribed to, so cancel only after the first event.
    expect((await watching.next()).value).toMatchObject({ kind: "task" });
    const canceled = await second.cancelTask(endless);
    expect(canceled.status.state).toBe("canceled");
    expect(await lastOf(watching)).toMatchObject({ kind: "status", status: { state: "canceled" } });
    await expect.poll(() => a.output, { timeout: WAIT_MS }).toContain(`stopped ${endless}`);
    expect([...b.output, ...c.output]).toEqual([]);
  });

  test("a key starts one task on any replica, however many requests run at once", async () => {
    const replicas = [await peerOf(a), await peerOf(b), await peerOf(c)];
    const ids = await Promise.all(
      Array.from({ length: 50 }, (_, index) => started(replicas[index % 3] as RemoteAgent, "3 10 0", { key: "one-key" })),
    );
    expect(new Set(ids).size).toBe(1);
    const listed = await (await peerOf(b)).listTasks({ idempotencyKey: "one-key" });
    expect(listed.totalSize).toBe(1);
    const task = await ended(await peerOf(c), ids[0] ?? "", WAIT_MS);
    expect(task.artifacts.flatMap(numbersOf)).toEqual(upTo(3));
  });

  test("a replica is killed: its streams resume on another, its runs fail in time or restart", async () => {
    const [first, second, third] = [await peerOf(a), await peerOf(b), await peerOf(c)];
    const again = await peerOf(a, "again");
    const lost = await started(first, "100000 100 0");
    const restarted = await started(again, "10 100 1000");
    const gate = gateNamed("killed");
    const elsewhere = await started(third, `40 50 0 ${gate.file}`);
    const reading = await startReading(first, elsewhere);
    const killedAt = Date.now();
    await a.kill();
    const before = await reading.end;
    gate.open();
    expect(before.broke).toBeInstanceOf(AgentError);
    expect(before.numbers.length).toBeLessThanOrEqual(20);
    const after = await readTask(second, elsewhere, before.cursor);
    expect([...before.numbers, ...after.numbers]).toEqual(upTo(40));
    expect(after.state).toBe("completed");
    const failed = await ended(second, lost, LEASE_MS + GRACE_MS);
    expect(failed.status).toMatchObject({ state: "failed", error: { code: "lost_place" } });
    expect(failed.status.at - killedAt).toBeLessThan(LEASE_MS + GRACE_MS);
    const task = await ended(third, restarted, WAIT_MS);
    expect(task.status.state).toBe("completed");
    expect(task.artifacts.flatMap(numbersOf)).toEqual(upTo(10));
    a = await start();
  }, 40_000);

  test("the replica that notifies a webhook is killed: another continues, in order, from the last delivery", async () => {
    const runner = await peerOf(b);
    const notifier = await start({ push: true });
    const gate = gateNamed("webhook");
    const hook = await Hook.open((response, count) => {
      // The webhook accepts the fourth notification, but its sender cannot record that.
      if (count === 4) process.kill(notifier.pid, "SIGKILL");
      response.writeHead(204).end();
    });
    try {
      const configuring = await peerOf(notifier);
      const taskId = await started(runner, `12 100 0 ${gate.file}`);
      await configuring.setPush(taskId, { id: "hook", url: hook.url });
      gate.open();
      await hook.count(4);
      const next = await start({ push: true });
      const delivery = async () => (await (await peerOf(next)).pushes(taskId))[0]?.delivery;
      await ended(runner, taskId, WAIT_MS);
      // The task, `working`, twelve numbers, `completed`.
      const last = 1 + 1 + 12 + 1;
      await expect.poll(async () => (await delivery())?.seq, { timeout: WAIT_MS, interval: 100 }).toBe(last);
      const received = hook.got.map(({ headers }) => Number(String(headers["idempotency-key"]).split(":").at(-1)));
      const from = received[0] ?? 0;
      const wanted = Array.from({ length: last - from + 1 }, (_, index) => from + index);
      expect([...new Set(received)]).toEqual(wanted);
      // Only the notification in flight is sent again.
      expect(received).toEqual([...wanted.slice(0, 4), ...wanted.slice(3)]);
      await next.kill();
    } finally {
      hook.close();
    }
  }, 40_000);

  test("Redis is killed and restarted: calls fail as unavailable meanwhile, then continue without loss", async () => {
    const replicas = await Promise.all([start({ leaseMs: LONG_LEASE_MS }), start({ leaseMs: LONG_LEASE_MS })]);
    const [first, second] = [await peerOf(replicas[0]), await peerOf(replicas[1])];
    const gate = gateNamed("redis");
    const taskId = await started(first, `60 50 0 ${gate.file}`);
    const reading = await startReading(second, taskId);
    const key = "sent-before";
    const earlier = await started(first, "2 0 0", { key });
    await ended(second, earlier, WAIT_MS);
    await redis.kill("SIGKILL");
    // The second half is written while Redis is away.
    gate.open();
    const refused = await Promise.all(
      [first.getTask(taskId), second.start("1 0 0"), second.cancelTask(taskId), first.listTasks()].map((work) =>
        work.then(
          () => "answered",
          (thrown: unknown) => AgentError.from(thrown).code,
        ),
      ),
    );
    expect(refused).toEqual(["unavailable", "unavailable", "unavailable", "unavailable"]);
    const before = await reading.end;
    expect(AgentError.from(before.broke).code).toBe("unavailable");
    await redis.restart();
    for (const peer of [first, second]) {
      const answers = () =>
        peer.getTask(taskId).then(
          () => true,
          () => false,
        );
      await expect.poll(answers, { timeout: WAIT_MS }).toBe(true);
    }
    const after = await readTask(second, taskId, before.cursor);
    expect([...before.numbers, ...after.numbers]).toEqual(upTo(60));
    expect(after.state).toBe("completed");
    expect(await started(second, "2 0 0", { key })).toBe(earlier);
  }, 40_000);
});
