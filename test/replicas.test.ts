import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AgentError, connect, DiscoveryCache, type RemoteAgent } from "../src/index.js";
import { Hook } from "./push-hook.js";
import { type RedisServer, redisAvailable, startRedis } from "./redis-server.js";
import { ended, killReplicas, numbersOf, type ReplicaProcess, readTask, startReplica, upTo } from "./replica-process.js";

const available = await redisAvailable();
const LEASE_MS = 2_000;
/** The promise: a run that lost its holder is settled within its lease and this. */
const GRACE_MS = 5_000;
const WAIT_MS = 15_000;

describe.skipIf(!available)("replicas on one Redis", () => {
  let redis: RedisServer;
  let a: ReplicaProcess;
  let b: ReplicaProcess;
  let c: ReplicaProcess;
  const peers: RemoteAgent[] = [];

  const start = (push = false) => startReplica({ redisUrl: redis.url, leaseMs: LEASE_MS, push });

  beforeAll(async () => {
    redis = await startRedis({ appendfsync: "always" });
    [a, b, c] = await Promise.all([start(), start(), start()]);
  }, 60_000);
  afterAll(async () => {
    await Promise.all(peers.map((peer) => peer.close()));
    await killReplicas();
    await redis?.stop();
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
    if (event.kind !== "task") throw new Error(`a ${event.kind} came where a task was asked for`);
    return event.task.id;
  }

  async function lastOf<T>(events: AsyncIterator<T>): Promise<T | undefined> {
    let last: T | undefined;
    for (let step = await events.next(); step.done !== true; step = await events.next()) last = step.value;
    return last;
  }

  test("any of them serves any task; a cancel reaches the process that runs it", async () => {
    const [first, second, third] = [await peerOf(a), await peerOf(b), await peerOf(c)];
    const taskId = await started(first, "5 20 300");
    expect((await third.listTasks({ pageSize: 100 })).tasks.map(({ id }) => id)).toContain(taskId);
    expect(await readTask(second, taskId)).toMatchObject({ numbers: upTo(5), state: "completed", broke: undefined });
    const endless = await started(first, "100000 50 0");
    const watching = third.subscribe(endless)[Symbol.asyncIterator]();
    // Only then does it watch; a task that has ended cannot be watched any more.
    expect((await watching.next()).value).toMatchObject({ kind: "task" });
    const canceled = await second.cancelTask(endless);
    expect(canceled.status.state).toBe("canceled");
    expect(await lastOf(watching)).toMatchObject({ kind: "status", status: { state: "canceled" } });
    await expect.poll(() => a.said, { timeout: WAIT_MS }).toContain(`stopped ${endless}`);
    expect([...b.said, ...c.said]).toEqual([]);
  });

  test("a key starts one task, whoever is asked and however often at once", async () => {
    const asked = [await peerOf(a), await peerOf(b), await peerOf(c)];
    const ids = await Promise.all(
      Array.from({ length: 50 }, (_, index) => started(asked[index % 3] as RemoteAgent, "3 10 0", { key: "one-key" })),
    );
    expect(new Set(ids).size).toBe(1);
    const listed = await (await peerOf(b)).listTasks({ idempotencyKey: "one-key" });
    expect(listed.totalSize).toBe(1);
    const task = await ended(await peerOf(c), ids[0] ?? "", WAIT_MS);
    // One run: every number once, all said by the same process.
    expect(task.artifacts.flatMap(numbersOf)).toEqual(upTo(3));
  });

  test("one is killed: its streams go on elsewhere, its runs fail in time or are started again", async () => {
    const [first, second, third] = [await peerOf(a), await peerOf(b), await peerOf(c)];
    const again = await peerOf(a, "again");
    const lost = await started(first, "100000 100 0");
    const restarted = await started(again, "10 100 1000");
    const elsewhere = await started(third, "40 50 200");
    const reading = readTask(first, elsewhere);
    await new Promise((resolve) => setTimeout(resolve, 700));
    const killedAt = Date.now();
    await a.kill();
    const before = await reading;
    expect(before.broke).toBeInstanceOf(AgentError);
    expect(before.numbers.length).toBeGreaterThan(0);
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

  test("the one that tells a webhook is killed: another goes on, in order, from where it was", async () => {
    const runner = await peerOf(b);
    const teller = await start(true);
    const hook = await Hook.open((response, count) => {
      // The webhook has taken the fourth; whoever told it never writes that down.
      if (count === 4) process.kill(teller.pid, "SIGKILL");
      response.writeHead(204).end();
    });
    try {
      const taskId = await started(runner, "12 100 500");
      await (await peerOf(teller)).setPush(taskId, { id: "hook", url: hook.url });
      await hook.count(4);
      const next = await start(true);
      const shown = async () => (await (await peerOf(next)).pushes(taskId))[0]?.delivery;
      await ended(runner, taskId, WAIT_MS);
      // The task, `working`, twelve numbers, `completed`.
      const last = 1 + 1 + 12 + 1;
      await expect.poll(async () => (await shown())?.seq, { timeout: WAIT_MS, interval: 100 }).toBe(last);
      const told = hook.got.map(({ headers }) => Number(String(headers["idempotency-key"]).split(":").at(-1)));
      const from = told[0] ?? 0;
      const wanted = Array.from({ length: last - from + 1 }, (_, index) => from + index);
      expect([...new Set(told)]).toEqual(wanted);
      // What was in flight is told again; nothing else is.
      expect(told).toEqual([...wanted.slice(0, 4), ...wanted.slice(3)]);
      await next.kill();
    } finally {
      hook.close();
    }
  }, 40_000);

  test("Redis is killed and comes back: clear errors meanwhile, then all goes on and nothing is lost", async () => {
    const [first, second] = [await peerOf(b), await peerOf(c)];
    const taskId = await started(first, "60 50 0");
    const reading = readTask(second, taskId);
    const key = "sent-before";
    const earlier = await started(first, "2 0 0", { key });
    await ended(second, earlier, WAIT_MS);
    await redis.kill("SIGKILL");
    const refused = await Promise.all(
      [first.getTask(taskId), second.start("1 0 0"), second.cancelTask(taskId), first.listTasks()].map((work) =>
        work.then(
          () => "answered",
          (thrown: unknown) => AgentError.from(thrown).code,
        ),
      ),
    );
    expect(refused).toEqual(["unavailable", "unavailable", "unavailable", "unavailable"]);
    const before = await reading;
    expect(AgentError.from(before.broke).code).toBe("unavailable");
    await redis.restart();
    await expect
      .poll(
        () =>
          first.getTask(taskId).then(
            () => true,
            () => false,
          ),
        { timeout: WAIT_MS },
      )
      .toBe(true);
    await expect
      .poll(
        () =>
          second.getTask(taskId).then(
            () => true,
            () => false,
          ),
        { timeout: WAIT_MS },
      )
      .toBe(true);
    const after = await readTask(second, taskId, before.cursor);
    expect([...before.numbers, ...after.numbers]).toEqual(upTo(60));
    expect(after.state).toBe("completed");
    expect(await started(second, "2 0 0", { key })).toBe(earlier);
  }, 40_000);
});
