import { describe, expect, test } from "vitest";
import { all, brief, codeOf, gate, manualTimers, settle, TestRuntime } from "../../test/helpers/tasks.js";
import { AgentError, type Part, textOf } from "../envelope/index.js";
import { createMemoryStore } from "./stores/memory.js";

const hang = () => new Promise<never>(() => undefined);

describe("close()", () => {
  test("rejects new work, drains running work, and then resolves", async () => {
    const work = gate();
    const at = new TestRuntime({ slow: () => work.passed.then(() => "done") });
    const bare = at.send("x");
    const task = at.task("x");
    await settle();
    const closed = at.runtime.close(1_000);
    expect(await codeOf(at.send("y"))).toBe("unavailable");
    expect(await codeOf(all(at.stream("y")))).toBe("unavailable");
    work.open();
    await closed;
    expect(brief(await bare)).toBe("message");
    expect((await task).status.state).toBe("completed");
  });

  test("stops remaining work after the drain: tasks fail, bare replies and streams end", async () => {
    const signals: AbortSignal[] = [];
    const at = new TestRuntime({
      hang: (_message, task) => {
        signals.push(task.signal);
        return hang();
      },
    });
    const bare = at.send("x");
    const task = at.task("x");
    await settle();
    const waiting = new TestRuntime({ ask: (_message, task) => task.ask("?") });
    const closed = at.runtime.close(1_000);
    await settle();
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false]);
    at.timers.advance(1_000);
    await closed;
    expect(await codeOf(bare)).toBe("unavailable");
    expect((await task).status).toMatchObject({ state: "failed", error: { code: "unavailable" } });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    const { id } = await waiting.task("x");
    const events = all(waiting.many({ kind: "task.subscribe", taskId: id, follow: true }));
    await settle();
    await waiting.runtime.close(0);
    expect(await codeOf(events)).toBe("unavailable");
  });

  test("leaves a restartable task to the next holder", async () => {
    const timers = manualTimers();
    let runs = 0;
    const handle = () => (++runs === 1 ? hang() : "second run");
    const first = new TestRuntime({ again: { handle, restartable: true } }, { timers });
    const second = new TestRuntime({ again: { handle, restartable: true } }, { timers, store: first.store, prefix: "second" });
    const { id } = await first.task("x", { delivery: "accepted" });
    await first.runtime.close(0);
    timers.advance(10_000);
    await settle();
    expect(await second.get(id)).toMatchObject({
      status: { state: "completed" },
      artifacts: [{ parts: [{ text: "second run" }] }],
    });
  });
});

describe("leases", () => {
  /** A runtime whose renewals stop, as if its process were frozen. */
  function frozen(restartable: boolean) {
    const timers = manualTimers();
    const work = gate();
    let runs = 0;
    async function* handle() {
      runs += 1;
      yield `run ${runs}`;
      if (runs === 1) await work.passed;
      return "end";
    }
    const limits = { renewEveryMs: 1_000_000 };
    const first = new TestRuntime({ talk: { handle, restartable } }, { timers, limits });
    const second = new TestRuntime({ talk: { handle, restartable } }, { timers, store: first.store, prefix: "second" });
    return { timers, work, first, second };
  }

  test("a task is kept by renewing its lease", async () => {
    const timers = manualTimers();
    const at = new TestRuntime({ hang }, { timers });
    const other = new TestRuntime({ hang }, { timers, store: at.store, prefix: "other" });
    const { id } = await at.task("x", { delivery: "accepted" });
    for (let sweep = 0; sweep < 10; sweep++) {
      timers.advance(3_000);
      await settle();
    }
    expect((await other.get(id)).status.state).toBe("submitted");
    expect(at.runtime.stats().runningTasks).toBe(1);
  });

  test("a task that lost its holder fails with lost_place; the zombie is refused and its caller still answered", async () => {
    const { timers, work, first, second } = frozen(false);
    const answer = first.task("x");
    await settle();
    timers.advance(12_000);
    await settle();
    work.open();
    const task = await answer;
    expect(task.status).toMatchObject({ state: "failed", error: { code: "lost_place" } });
    await settle();
    expect(await second.get(task.id)).toEqual(task);
    expect(first.runtime.stats()).toMatchObject({ runningTasks: 0, abandonedRuns: 0 });
  });

  test("a restartable agent is started again; its first output is overwritten", async () => {
    const { timers, work, first, second } = frozen(true);
    const answer = first.task("x");
    await settle();
    timers.advance(12_000);
    await settle();
    work.open();
    const task = await answer;
    expect(task).toMatchObject({
      status: { state: "completed" },
      artifacts: [{ id: "result", parts: [{ text: "run 2" }, { text: "end" }] }],
    });
    expect(await second.get(task.id)).toEqual(task);
  });

  test("a cancel its holder never received closes the task at take-over", async () => {
    const { timers, first, second } = frozen(true);
    const { id } = await first.task("x", { delivery: "accepted" });
    await settle();
    await first.store.requestCancel(id, "self:self");
    timers.advance(12_000);
    await settle();
    expect((await second.get(id)).status.state).toBe("canceled");
  });
});

describe("a store that fails", () => {
  test("fails the send, not the process, and frees the slot", async () => {
    const at = new TestRuntime({ echo: () => "x" });
    const fail = () => Promise.reject(new Error("disk"));
    Object.assign(at.store, { create: fail, facts: fail, list: fail, snapshot: fail });
    const failures = [
      at.send("x", { task: "always" }),
      at.send("x", { delivery: "accepted" }),
      at.send("x", { context: { taskId: "t" } }),
      at.get("t"),
      at.one({ kind: "task.list" }),
      all(at.stream("x", { task: "always" })),
      all(at.many({ kind: "task.subscribe", taskId: "t", follow: true })),
    ];
    expect(await Promise.all(failures.map(codeOf))).toEqual(failures.map(() => "unavailable"));
    expect(at.runtime.stats().runningTasks).toBe(0);
  });

  test("output that no store can keep fails its task at once", async () => {
    const timers = manualTimers();
    const kept = createMemoryStore({ now: timers.now });
    const append = kept.append.bind(kept);
    kept.append = async (taskId, batch) => {
      JSON.stringify(batch.events);
      return append(taskId, batch);
    };
    // No JSON, which the types cannot tell.
    const unsaid = { kind: "data", data: 1n } as unknown as Part;
    const at = new TestRuntime(
      {
        async *mid(_message, task) {
          yield task.artifact([unsaid]);
          yield await hang();
        },
        end: () => [unsaid],
      },
      { timers, store: kept },
    );
    for (const agent of ["mid", "end"]) {
      const { status } = await at.task("x", { call: { agent } });
      expect(status).toMatchObject({
        state: "failed",
        error: { code: "internal", message: "the agent's output cannot be stored" },
      });
    }
    expect(at.runtime.stats().runningTasks).toBe(0);
  });

  test.each([
    ["full", { state: "failed", error: { code: "too_large" } }],
    ["fenced", { state: "submitted" }],
    ["away", { state: "submitted" }],
  ] as const)("writes nothing after entries rejected as %s", async (because, status) => {
    const at = new TestRuntime({
      async *talk() {
        yield "a";
        await settle();
        return "b";
      },
    });
    const answered = gate();
    const { append } = at.store;
    at.store.append = async (taskId, batch) => {
      const [first] = batch.events;
      if (first?.kind !== "artifact" || textOf(first.artifact.parts) !== "a") return append.call(at.store, taskId, batch);
      await answered.passed;
      if (because === "away") throw new AgentError("unavailable", "away");
      return { ok: false, because };
    };
    const { id } = await at.task("x", { delivery: "accepted" });
    for (let tick = 0; tick < 3; tick++) await settle();
    at.timers.advance(8_000);
    answered.open();
    for (let tick = 0; tick < 3; tick++) await settle();
    expect(await at.get(id)).toMatchObject({ status, artifacts: [] });
  });

  test("stops a run whose entries are rejected", async () => {
    const at = new TestRuntime({ echo: () => "x" });
    const { append } = at.store;
    at.store.append = () => Promise.reject(new Error("disk"));
    const { id } = await at.task("x", { delivery: "accepted" });
    await settle();
    expect(at.runtime.stats().runningTasks).toBe(0);
    at.store.append = append;
    at.timers.advance(12_000);
    await settle();
    expect((await at.get(id)).status).toMatchObject({ state: "failed", error: { code: "lost_place" } });
  });
});
