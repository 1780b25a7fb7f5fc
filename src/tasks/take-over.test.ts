import { describe, expect, test } from "vitest";
import { codeOf, gate, manualTimers, settle, TestRuntime } from "../../test/helpers/tasks.js";
import { AgentError, textOf } from "../envelope/index.js";

const OWNER = "self:self";
const hang = () => new Promise<never>(() => undefined);
/** Never renews, as if its process were frozen from the start. */
const FROZEN = { renewEveryMs: 1_000_000 };
const away = (code: "unavailable" | "overloaded") => Promise.reject(new AgentError(code, "away"));

describe("a restartable run that lost its holder", () => {
  test("gets the message of its turn again; queued messages keep their order", async () => {
    const timers = manualTimers();
    const heard: string[] = [];
    const handle = (message: { readonly text: string }, task: { readonly turn: number }) => {
      heard.push(`${task.turn} ${message.text}`);
      return message.text === "two" && heard.filter((each) => each === "2 two").length === 1 ? hang() : message.text;
    };
    const work = gate();
    const first = new TestRuntime(
      {
        talk: {
          handle: async (message, task) => {
            await work.passed;
            return handle(message, task);
          },
          restartable: true,
        },
      },
      { timers, limits: FROZEN },
    );
    const second = new TestRuntime({ talk: { handle, restartable: true } }, { timers, store: first.store, prefix: "second" });
    const { id } = await first.task("one", { delivery: "accepted" });
    for (const text of ["two", "three"]) await first.send(text, { context: { taskId: id }, delivery: "accepted" });
    work.open();
    await settle();
    expect(heard).toEqual(["1 one", "2 two"]);
    timers.advance(12_000);
    await settle();
    await settle();
    expect(heard).toEqual(["1 one", "2 two", "2 two", "3 three"]);
    const { status, artifacts } = await second.get(id);
    expect(status.state).toBe("completed");
    expect(artifacts.map((artifact) => textOf(artifact.parts))).toEqual(["one", "two", "three"]);
  });

  test("has the state saved by an earlier turn, also if a message delayed that turn's end", async () => {
    const timers = manualTimers();
    const work = gate();
    const states: unknown[] = [];
    const first = new TestRuntime(
      {
        talk: {
          handle: async (_message, task) => {
            if (task.turn > 1) return hang();
            await work.passed;
            task.save("kept");
            return "one";
          },
          restartable: true,
        },
      },
      { timers, limits: FROZEN },
    );
    const handle = (_message: unknown, task: { readonly state: unknown }) => void states.push(task.state);
    new TestRuntime({ talk: { handle, restartable: true } }, { timers, store: first.store, prefix: "second" });
    const { id } = await first.task("one", { delivery: "accepted" });
    await first.send("two", { context: { taskId: id }, delivery: "accepted" });
    work.open();
    await settle();
    timers.advance(12_000);
    await settle();
    expect(states).toEqual(["kept"]);
  });

  test("is not failed by a process that shuts down, its own included", async () => {
    const timers = manualTimers();
    let runs = 0;
    const handle = () => (++runs === 1 ? hang() : "second run");
    const sent = gate();
    const send = () => sent.passed.then(() => ({ accepted: true }) as const);
    const first = new TestRuntime({ again: { handle, restartable: true } }, { timers, push: { send } });
    const push = { taskId: "", id: "hook", url: "https://hook.example" };
    const { id } = await first.task("x", { delivery: "accepted", push });
    await settle();
    // The webhook under way keeps the runtime open for a while after its runs were let go.
    const closed = first.runtime.close(20_000);
    await settle();
    timers.advance(20_000);
    await settle();
    timers.advance(3_000);
    await settle();
    expect((await first.store.facts(id, OWNER))?.state).toBe("submitted");
    sent.open();
    await closed;
    const second = new TestRuntime({ again: { handle, restartable: true } }, { timers, store: first.store, prefix: "second" });
    timers.advance(12_000);
    await settle();
    expect((await second.get(id)).status.state).toBe("completed");
  });

  test("waits for room instead of failing", async () => {
    const timers = manualTimers();
    const work = gate();
    const first = new TestRuntime({ again: { handle: hang, restartable: true } }, { timers, limits: FROZEN });
    const agent = { handle: () => work.passed.then(() => "done"), restartable: true };
    const limits = { runningTasksPerOwner: 1 };
    const second = new TestRuntime({ again: agent }, { timers, store: first.store, prefix: "second", limits });
    const lost = [await first.task("x", { delivery: "accepted" }), await first.task("y", { delivery: "accepted" })];
    const states = async () => Promise.all(lost.map(async ({ id }) => (await second.get(id)).status.state));
    timers.advance(12_000);
    await settle();
    expect(await states()).toEqual(["submitted", "submitted"]);
    work.open();
    await settle();
    timers.advance(12_000);
    await settle();
    expect(await states()).toEqual(["completed", "completed"]);
  });
});

describe("the sweep", () => {
  test("ends all lost runs at once, however many a dead process leaves", async () => {
    const timers = manualTimers();
    const many = 25;
    const first = new TestRuntime({ hang }, { timers, limits: FROZEN });
    const second = new TestRuntime({ hang }, { timers, store: first.store, prefix: "second", limits: { takeOversAtOnce: 10 } });
    for (let task = 0; task < many; task++) await first.task("x", { delivery: "accepted" });
    timers.advance(10_000);
    for (let look = 0; look < 5; look++) await settle();
    const failed = await second.one({ kind: "task.list", state: "failed" });
    expect(failed).toMatchObject({ totalSize: many });
  });

  test("one task that cannot be settled does not keep the others from it", async () => {
    const timers = manualTimers();
    const first = new TestRuntime({ hang }, { timers, limits: FROZEN });
    const ids: string[] = [];
    for (let task = 0; task < 3; task++) ids.push((await first.task("x", { delivery: "accepted" })).id);
    const { append } = first.store;
    first.store.append = (taskId, batch) =>
      taskId === ids[0] ? Promise.reject(new Error("damaged")) : append.call(first.store, taskId, batch);
    new TestRuntime({ hang }, { timers, store: first.store, prefix: "second" });
    timers.advance(12_000);
    await settle();
    const states = await Promise.all(ids.map(async (id) => (await first.store.facts(id, OWNER))?.state));
    expect(states).toEqual(["submitted", "failed", "failed"]);
  });

  test("keeps renewing while lost runs are settled slowly, and after a failure", async () => {
    const timers = manualTimers();
    const store = new TestRuntime({ hang }, { timers, limits: FROZEN }).store;
    const at = new TestRuntime({ hang }, { timers, store, prefix: "second" });
    await at.task("x", { delivery: "accepted" });
    const { takeOver } = store;
    store.takeOver = hang;
    for (let sweeps = 0; sweeps < 5; sweeps++) {
      timers.advance(3_000);
      await settle();
    }
    expect(await takeOver.call(store, { holder: "other", leaseMs: 1 }, 10)).toEqual([]);
  });
});

describe("a cancel", () => {
  test("that arrived just before the turn ended with a question ends the task", async () => {
    const work = gate();
    const at = new TestRuntime({ ask: (_message, task) => work.passed.then(() => task.ask("which?")) });
    const { id } = await at.task("x", { delivery: "accepted" });
    // As another process does: the holder has not heard of it yet.
    expect(await at.store.requestCancel(id, OWNER)).toMatchObject({ outcome: "notified" });
    work.open();
    await settle();
    expect((await at.get(id)).status.state).toBe("canceled");
    expect(await codeOf(at.send("that", { context: { taskId: id } }))).toBe("task_closed");
  });
});

describe("a store that is away between two turns", () => {
  test("is awaited, and the next turn starts once", async () => {
    const work = gate();
    const heard: string[] = [];
    const at = new TestRuntime({
      talk: async (message, task) => {
        heard.push(`${task.turn} ${message.text}`);
        await work.passed;
        return message.text;
      },
    });
    const { id } = await at.task("one", { delivery: "accepted" });
    await at.send("two", { context: { taskId: id }, delivery: "accepted" });
    const { nextTurn } = at.store;
    let answersLost = 2;
    at.store.nextTurn = async (...asked) => {
      const next = await nextTurn.apply(at.store, asked);
      return answersLost-- > 0 ? away(answersLost === 0 ? "overloaded" : "unavailable") : next;
    };
    work.open();
    for (let tries = 0; tries < 3; tries++) {
      await settle();
      at.timers.advance(200);
    }
    await settle();
    expect(heard).toEqual(["1 one", "2 two"]);
    expect((await at.get(id)).status.state).toBe("completed");
  });
});
