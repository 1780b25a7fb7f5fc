import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type RedisServer, redisAvailable, startRedis } from "../redis-server.js";
import { createWorkspace, koine, outcomeOf, type Serving, seen, serving, startKoine, type Workspace } from "./koine.js";

/** How often the agent started this work. */
async function runsOf(workspace: Workspace, text: string): Promise<number> {
  const runs = await readFile(workspace.path("runs"), "utf8");
  return runs.split("\n").filter((line) => line === text).length;
}

function idIn({ stdout }: { readonly stdout: string }): string {
  const { task } = JSON.parse(stdout) as { readonly task: { readonly id: string } }; // the output of `send -o json` for a task
  return task.id;
}

test("--data: acknowledged tasks survive kill -9, and a key does not start the work again", async () => {
  const workspace = await createWorkspace();
  const args = [workspace.agent, "--data", workspace.path("data"), "--durable", "power"];
  const before = await serving(args);
  const sent = await koine(["send", before.url, "order", "--idempotency-key", "order-1", "-o", "json"]);
  const cut = startKoine(["send", before.url, "gate", "--stream"]);
  cut.stdin?.end();
  const ended = outcomeOf(cut);
  await seen(cut.stdout, /before/);
  await before.stop("SIGKILL");
  // Otherwise it would retry resuming its stream for a while.
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
  expect(await runsOf(workspace, "order")).toBe(1);
  expect(whole).toMatchObject({ code: 0, stdout: "wrote order\n" });
  expect(half).toMatchObject({ code: 0, stdout: "before \n" });
  await workspace.clear();
}, 40_000);

test("invalid stores are reported before anything is served", async () => {
  const workspace = await createWorkspace();
  const serve = (...more: readonly string[]) => koine(["serve", workspace.agent, "--port", "0", ...more]);
  const [both, alone, notRedis, away] = await Promise.all([
    serve("--data", workspace.path("d"), "--store", "redis://127.0.0.1:1"),
    serve("--durable", "power"),
    serve("--store", "http://user:pass-word@127.0.0.1:1"),
    serve("--store", "redis://:pass-word@127.0.0.1:1"),
  ]);
  await workspace.clear();
  expect([both.code, alone.code, notRedis.code, away.code]).toEqual([2, 2, 2, 1]);
  expect(alone.stderr).toContain("Give --data DIR too.");
  expect(away.stderr).toContain("tasks cannot be kept in Redis");
  expect(notRedis.stderr + away.stderr).not.toContain("pass-word");
}, 40_000);

describe.skipIf(!(await redisAvailable()))("--store redis://", () => {
  let workspace: Workspace;
  let redis: RedisServer;
  let replicas: readonly [Serving, Serving];
  beforeAll(async () => {
    workspace = await createWorkspace();
    redis = await startRedis();
    const start = () => serving([workspace.agent, "--store", redis.url]);
    replicas = await Promise.all([start(), start()]);
  });
  afterAll(async () => {
    await Promise.all(replicas.map((each) => each.stop()));
    await redis.stop();
    await workspace.clear();
  });

  test("a task of one replica is followed at the other, and a key applies to both", async () => {
    const [one, other] = replicas;
    const started = await koine(["send", one.url, "gate", "--no-wait", "--idempotency-key", "k"]);
    const id = started.stdout.trim();
    const follower = startKoine(["task", "subscribe", other.url, id]);
    const ended = outcomeOf(follower);
    await seen(follower.stdout, /before/);
    await workspace.openGate();
    expect(await ended).toMatchObject({ code: 0, stdout: "before behind\n" });
    const again = await koine(["send", other.url, "gate", "--idempotency-key", "k", "-o", "json"]);
    expect(idIn(again)).toBe(id);
    expect(await runsOf(workspace, "gate")).toBe(1);
  }, 40_000);

  test("without Redis a call exits with 3 and does not blame the address; with Redis calls succeed again", async () => {
    const [one] = replicas;
    await redis.kill();
    const away = await koine(["send", one.url, "order", "--no-wait"]);
    expect(away.code).toBe(3);
    expect(away.stderr).toMatch(/the task store does not answer\nhint: The agent answers, but cannot do this now/);
    await redis.restart();
    // The replica reconnects to Redis by itself, within an unspecified time.
    let back = away;
    for (let tries = 0; tries < 15 && back.code === 3; tries++) back = await koine(["send", one.url, "order"]);
    expect(back).toEqual({ code: 0, stdout: "wrote order\n", stderr: "" });
  }, 40_000);
});
