import { describe, expect, test } from "vitest";
import { brief, gate, manualTimers, settle, TestRuntime, taskOf } from "../../test/helpers/tasks.js";
import type { PushConfig, PushDelivery } from "../envelope/index.js";
import type { PushNotification, PushOutcome, PushPort } from "./push-port.js";
import { createMemoryStore } from "./stores/memory.js";

const HOOK: PushConfig = { taskId: "", id: "p", url: "https://hooks.example" };
const ENTRIES = ["task submitted", "artifact result", "status completed"];
const OK: PushOutcome = { accepted: true };
const BUSY: PushOutcome = { accepted: false, problem: "HTTP 503" };

/** A port that answers as it is told to, and `OK` when it is told nothing. */
function scripted(...answers: PushOutcome[]) {
  const tries: string[] = [];
  const push: PushPort = {
    async send({ event }) {
      tries.push(brief(event));
      return answers.shift() ?? OK;
    },
  };
  return { tries, push };
}

async function deliveryOf(at: TestRuntime, taskId: string): Promise<PushDelivery | undefined> {
  return (await at.store.pushes(taskId, "self:self"))?.[0]?.delivery;
}

describe("telling webhooks", () => {
  test("tries an entry again after twice the time each time, in order and without a gap", async () => {
    const { tries, push } = scripted(OK, BUSY, BUSY, OK, BUSY);
    const at = new TestRuntime({ echo: () => "x" }, { push, limits: { pushRetryMs: 100, lookAgainMs: 1e9 } });
    const { id } = taskOf(await at.send("x", { push: HOOK }));
    await settle();
    expect(tries).toEqual(["task submitted", "artifact result"]);
    expect(await deliveryOf(at, id)).toEqual({
      state: "retrying",
      seq: 1,
      failures: 1,
      nextAt: at.timers.now() + 100,
      problem: "HTTP 503",
    });
    at.timers.advance(99);
    await settle();
    expect(tries).toHaveLength(2);
    at.timers.advance(10);
    await settle();
    expect(tries).toHaveLength(3);
    at.timers.advance(199);
    await settle();
    expect(tries).toHaveLength(3);
    at.timers.advance(10);
    await settle();
    // The next entry begins with the short wait again.
    expect(await deliveryOf(at, id)).toMatchObject({ state: "retrying", seq: 2, failures: 1, nextAt: at.timers.now() + 100 });
    at.timers.advance(110);
    await settle();
    const artifacts = ["artifact result", "artifact result", "artifact result"];
    expect(tries).toEqual(["task submitted", ...artifacts, "status completed", "status completed"]);
    expect(await deliveryOf(at, id)).toMatchObject({ state: "waiting", seq: 3, failures: 0 });
  });

  test("waits as long as the webhook requests, up to a limit", async () => {
    for (const [retryAfterMs, waitMs] of [
      [5_000, 5_000],
      [1e9, 60_000],
    ] as const) {
      const { push } = scripted({ ...BUSY, retryAfterMs });
      const at = new TestRuntime({ echo: () => "x" }, { push });
      const { id } = taskOf(await at.send("x", { push: HOOK }));
      await settle();
      expect((await deliveryOf(at, id))?.nextAt).toBe(at.timers.now() + waitMs);
    }
  });

  test("gives up after its attempts, at once if a retry is useless, and restarts when set again", async () => {
    const { tries, push } = scripted(BUSY, BUSY, { accepted: false, problem: "HTTP 410", final: true });
    const at = new TestRuntime({ echo: () => "x" }, { push, limits: { pushTries: 2, pushRetryMs: 100 } });
    const { id } = taskOf(await at.send("x", { push: HOOK }));
    await settle();
    at.timers.advance(110);
    await settle();
    expect(await deliveryOf(at, id)).toMatchObject({ state: "gave_up", seq: 0, failures: 2, problem: "HTTP 503" });
    at.timers.advance(1e6);
    await settle();
    expect(tries).toHaveLength(2);
    const again = (): Promise<unknown> => at.one({ kind: "push.set", config: { ...HOOK, taskId: id } });
    await again();
    await settle();
    expect(await deliveryOf(at, id)).toMatchObject({ state: "gave_up", failures: 1, problem: "HTTP 410" });
    await again();
    await settle();
    expect(tries.slice(3)).toEqual(ENTRIES);
  });

  test("ends an attempt that takes too long or throws, whatever the port does", async () => {
    const signals: AbortSignal[] = [];
    const hangs: PushPort = {
      send(_telling, signal) {
        signals.push(signal);
        if (signals.length === 1) return new Promise(() => undefined);
        throw new Error("s3cret");
      },
    };
    const limits = { pushTimeoutMs: 1_000, pushRetryMs: 100, renewEveryMs: 1e9 };
    const at = new TestRuntime({ echo: () => "x" }, { push: hangs, limits });
    const { id } = taskOf(await at.send("x", { push: HOOK }));
    await settle();
    expect((await deliveryOf(at, id))?.state).toBe("pending");
    at.timers.advance(1_000);
    await settle();
    expect(signals[0]?.aborted).toBe(true);
    expect(await deliveryOf(at, id)).toMatchObject({ state: "retrying", problem: "no answer within 1000 ms" });
    at.timers.advance(110);
    await settle();
    expect(await deliveryOf(at, id)).toMatchObject({ failures: 2, problem: "the notification could not be made" });
  });

  test("delivers to webhooks independently, with limited concurrency", async () => {
    const hung = gate();
    const open = new Set<string>();
    let most = 0;
    const told: string[] = [];
    const push: PushPort = {
      async send({ config, event }) {
        open.add(config.url);
        most = Math.max(most, open.size);
        if (config.url.includes("slow")) await hung.passed;
        open.delete(config.url);
        told.push(`${new URL(config.url).hostname} ${brief(event)}`);
        return OK;
      },
    };
    const at = new TestRuntime({ echo: () => "x" }, { push, limits: { pushesAtOnce: 2 } });
    const asked: number[] = [];
    const due = at.store.duePushes.bind(at.store);
    at.store.duePushes = (lease, limit) => {
      asked.push(limit);
      return due(lease, limit);
    };
    await at.send("x", { push: { ...HOOK, url: "https://slow.example" } });
    await at.send("x", { push: { ...HOOK, url: "https://quick-1.example" } });
    await at.send("x", { push: { ...HOOK, url: "https://quick-2.example" } });
    for (let turn = 0; turn < 10; turn++) await settle();
    const expected = ["quick-1.example", "quick-2.example"].flatMap((host) => ENTRIES.map((entry) => `${host} ${entry}`));
    expect(told).toEqual(expected);
    hung.open();
    for (let turn = 0; turn < 10; turn++) await settle();
    expect(told.slice(expected.length)).toEqual(ENTRIES.map((entry) => `slow.example ${entry}`));
    expect(most).toBe(2);
    expect(Math.min(...asked)).toBe(1);
  });

  test("sends the task as of the entry", async () => {
    const tellings: PushNotification[] = [];
    const push: PushPort = {
      async send(telling) {
        tellings.push(telling);
        return OK;
      },
    };
    const at = new TestRuntime({ echo: () => "x" }, { push });
    await at.send("x", { push: HOOK });
    await settle();
    const tasks = await Promise.all(tellings.map(({ task }) => task()));
    expect(tasks.map((task) => `${task?.status.state} ${task?.artifacts.length}`)).toEqual([
      "submitted 0",
      "submitted 1",
      "completed 1",
    ]);
  });

  test("reports that the entries are deleted", async () => {
    const { tries, push } = scripted(BUSY);
    const at = new TestRuntime({ echo: () => "x" }, { push, limits: { pushRetryMs: 100 } });
    const { id } = taskOf(await at.send("x", { push: HOOK }));
    await settle();
    const read = at.store.read.bind(at.store);
    at.store.read = async (...args) => {
      const page = await read(...args);
      return page && { ...page, firstKept: 2 };
    };
    at.timers.advance(110);
    await settle();
    expect(await deliveryOf(at, id)).toMatchObject({ state: "gave_up", problem: "entries are no longer kept" });
    expect(tries).toHaveLength(1);
  });

  test("pauses while the store is unavailable, and continues from the cursor", async () => {
    const { tries, push } = scripted();
    const at = new TestRuntime({ echo: () => "x" }, { push, limits: { renewEveryMs: 1e9 } });
    const due = at.store.duePushes.bind(at.store);
    at.store.duePushes = () => Promise.reject(new Error("away"));
    await at.send("x", { push: HOOK });
    await settle();
    expect(tries).toEqual([]);
    at.store.duePushes = due;
    at.timers.advance(2_000);
    await settle();
    expect(tries).toEqual(ENTRIES);
  });
});

describe("when a process ends", () => {
  test("a sweep in progress leases nothing after close", async () => {
    const { tries, push } = scripted();
    const at = new TestRuntime({ echo: () => "x" }, { push });
    const due = at.store.duePushes.bind(at.store);
    const answer = gate();
    at.store.duePushes = async (...args) => {
      const found = await due(...args);
      await answer.passed;
      return found;
    };
    const { id } = taskOf(await at.send("x", { push: HOOK }));
    await settle();
    let closed = false;
    const closing = at.runtime.close(0).then(() => {
      closed = true;
    });
    await settle();
    expect(closed).toBe(false);
    answer.open();
    await closing;
    expect(tries).toEqual([]);
    expect((await due({ holder: "next", leaseMs: 1 }, 1))[0]?.config.taskId).toBe(id);
  });

  test("a request in progress may end; the next process delivers the rest at once", async () => {
    const timers = manualTimers();
    const store = createMemoryStore({ now: timers.now });
    const first = gate();
    const tries: string[] = [];
    const push = (name: string): PushPort => ({
      async send({ event }) {
        tries.push(`${name} ${brief(event)}`);
        if (name === "a") await first.passed;
        return OK;
      },
    });
    const a = new TestRuntime({ echo: () => "x" }, { store, timers, push: push("a"), prefix: "a" });
    await a.send("x", { push: HOOK });
    await settle();
    const closed = a.runtime.close(10_000);
    await settle();
    first.open();
    await closed;
    expect(tries).toEqual(["a task submitted"]);
    const b = new TestRuntime({ echo: () => "x" }, { store, timers, push: push("b"), prefix: "b" });
    timers.advance(2_000);
    await settle();
    expect(tries.slice(1)).toEqual(["b artifact result", "b status completed"]);
    await b.runtime.close(0);
  });

  test("a request that does not end in time is cut, counts as no failure, and is made again elsewhere", async () => {
    const timers = manualTimers();
    const store = createMemoryStore({ now: timers.now });
    const stuck: PushPort = { send: () => new Promise(() => undefined) };
    const a = new TestRuntime({ echo: () => "x" }, { store, timers, push: stuck, prefix: "a" });
    const { id } = taskOf(await a.send("x", { push: HOOK }));
    await settle();
    const closed = a.runtime.close(500);
    await settle();
    timers.advance(500);
    await closed;
    expect(await deliveryOf(a, id)).toMatchObject({ state: "pending", seq: 0, failures: 0 });
    const { tries, push } = scripted();
    const b = new TestRuntime({ echo: () => "x" }, { store, timers, push, prefix: "b" });
    timers.advance(2_000);
    await settle();
    expect(tries).toEqual(ENTRIES);
    await b.runtime.close(0);
  });

  test("pending notifications of a crashed process are delivered when its lease expires", async () => {
    const timers = manualTimers();
    const store = createMemoryStore({ now: timers.now });
    const stuck: PushPort = { send: () => new Promise(() => undefined) };
    const limits = { pushTimeoutMs: 1_000, leaseMs: 500, lookAgainMs: 100, renewEveryMs: 1e9 };
    const dead = new TestRuntime({ echo: () => "x" }, { store, timers: manualTimers(), push: stuck, limits, prefix: "a" });
    await dead.send("x", { push: HOOK });
    await settle();
    const { tries, push } = scripted();
    const b = new TestRuntime({ echo: () => "x" }, { store, timers, push, limits, prefix: "b" });
    timers.advance(1_400);
    await settle();
    expect(tries).toEqual([]);
    timers.advance(100);
    await settle();
    expect(tries).toEqual(ENTRIES);
    await b.runtime.close(0);
  });
});
