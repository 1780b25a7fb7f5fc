import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RedisServer, redisAvailable, startRedis } from "../redis-server.js";
import { type Desk, koine, newDesk, outcomeOf, type Serving, seen, serving, startKoine } from "./koine.js";

/** How often the agent began to work on this. */
async function runsOf(desk: Desk, text: string): Promise<number> {
  const runs = await readFile(desk.path("runs"), "utf8");
  return runs.split("\n").filter((line) => line === text).length;
}

function idIn({ stdout }: { readonly stdout: string }): string {
  const { task } = JSON.parse(stdout) as { readonly task: { readonly id: string } }; // what `send -o json` prints for a task
  return task.id;
}

test("--data: what was acknowledged is there after kill -9, and a key does not start the work again", async () => {
  const desk = await newDesk();
  const args = [desk.agent, "--data", desk.path("data"), "--durable", "power"];
  const before = await serving(args);
  const sent = await koine(["send", before.url, "order", "--idempotency-key", "order-1", "-o", "json"]);
  const cut = startKoine(["send", before.url, "gate", "--stream"]);
  cut.stdin?.end();
  const ended = outcomeOf(cut);
  await seen(cut.stdout, /before/);
  await before.stop("SIGKILL");
  // It would go on trying to take up its stream for a while.
  cut.kill("SIGINT");
  const { code, stderr } = await ended;
  expect(code).toBe(130);
  const [, halfDone = ""] = /koine task subscribe \S+ (\S+) --after \S+/.exec(stderr) ?? [];

  const after = await serving(args, {}, before.port);
  const [again, whole, half] = await Promise.all([
    koine(["send", after.url, "order", "--idempotency-key", "order-1", "-o", "json"]),
    koine(["task", "get", after.url, idIn(sent)]),
    koine(["task", "get", after.url, halfDone]),
  ]);
  await after.stop();
  expect(idIn(again)).toBe(idIn(sent));
  expect(await runsOf(desk, "order")).toBe(1);
  expect(whole).toMatchObject({ code: 0, stdout: "wrote order\n" });
  expect(half).toMatchObject({ code: 0, stdout: "before \n" });
  await desk.clear();
}, 40_000);

test("what cannot be kept anywhere is said before anything is served", async () => {
  const desk = await newDesk();
  const serve = (...more: readonly string[]) => koine(["serve", desk.agent, "--port", "0", ...more]);
  const [both, alone, notRedis, away] = await Promise.all([
    serve("--data", desk.path("d"), "--store", "redis://127.0.0.1:1"),
    serve("--durable", "power"),
    serve("--store", "http://user:pass-word@127.0.0.1:1"),
    serve("--store", "redis://:pass-word@127.0.0.1:1"),
  ]);
  await desk.clear();
  expect([both.code, alone.code, notRedis.code, away.code]).toEqual([2, 2, 2, 1]);
  expect(alone.stderr).toContain("Give --data DIR too.");
  expect(away.stderr).toContain("tasks cannot be kept in Redis");
  expect(notRedis.stderr + away.stderr).not.toContain("pass-word");
}, 40_000);

describe.skipIf(!(await redisAvailable()))("--store redis://", () => {
  let desk: Desk;
  let redis: RedisServer;
  let replicas: readonly [Serving, Serving];
  beforeAll(async () => {
    desk = await newDesk();
    redis = await startRedis();
    const start = () => serving([desk.agent, "--store", redis.url]);
    replicas = await Promise.all([start(), start()]);
  });
  afterAll(async () => {
    await Promise.all(replicas.map((each) => each.stop()));
    await redis.stop();
    await desk.clear();
  });

  test("what one replica does is followed at the other, and a key holds for both", async () => {
    const [one, other] = replicas;
    const started = await koine(["send", one.url, "gate", "--no-wait", "--idempotency-key", "k"]);
    const id = started.stdout.trim();
    const follower = startKoine(["task", "subscribe", other.url, id]);
    const ended = outcomeOf(follower);
    await seen(follower.stdout, /before/);
    await desk.openGate();
    expect(await ended).toMatchObject({ code: 0, stdout: "before behind\n" });
    const again = await koine(["send", other.url, "gate", "--idempotency-key", "k", "-o", "json"]);
    expect(idIn(again)).toBe(id);
    expect(await runsOf(desk, "gate")).toBe(1);
  }, 40_000);

  test("without Redis a call is 3 and says that it is not the address; with it all is well again", async () => {
    const [one] = replicas;
    await redis.kill();
    const away = await koine(["send", one.url, "order", "--no-wait"]);
    expect(away.code).toBe(3);
    expect(away.stderr).toMatch(/the task store does not answer\nhint: The agent answers, but cannot do this now/);
    await redis.restart();
    // The replica finds Redis again by itself; how soon is not promised to the millisecond.
    let back = away;
    for (let tries = 0; tries < 15 && back.code === 3; tries++) back = await koine(["send", one.url, "order"]);
    expect(back).toEqual({ code: 0, stdout: "wrote order\n", stderr: "" });
  }, 40_000);
});
