import { describe, expect, test } from "vitest";
import {
  all,
  brief,
  codeOf,
  gate,
  manualTimers,
  principal,
  settle,
  TestRuntime,
  taskOf,
  tasksOf,
} from "../../test/helpers/tasks.js";
import { AgentError, type AgentEvent, CancelSource, type Cursor, startCall } from "../envelope/index.js";

const echo = () => "x";
const bob = startCall({ caller: principal("bob") });
const subscribeTo = (taskId: string, after?: Cursor, follow = true) =>
  ({ kind: "task.subscribe", taskId, after, follow }) as const;

describe("task.get", () => {
  test("answers the owner; for others the task is not there", async () => {
    const at = new TestRuntime({ echo });
    const { id } = await at.task("x");
    expect((await at.get(id)).status.state).toBe("completed");
    const refusals = [];
    for (const taskId of [id, "none"]) refusals.push(await codeOf(at.get(taskId, bob)));
    expect(refusals).toEqual(["task_not_found", "task_not_found"]);
  });

  test("cuts the history to the newest, and refuses a negative length", async () => {
    const at = new TestRuntime({ ask: (_message, task) => task.ask("?") });
    const asked = taskOf(await at.send("one"));
    await at.send("two", { context: { taskId: asked.id } });
    const newest = await at.one({ kind: "task.get", taskId: asked.id, historyLength: 1 });
    expect(taskOf(newest).history).toMatchObject([{ content: [{ text: "two" }] }]);
    expect(await codeOf(at.one({ kind: "task.get", taskId: asked.id, historyLength: -1 }))).toBe("invalid_message");
  });

  test("never shows more history than the limit", async () => {
    const at = new TestRuntime(
      {
        async *talk(_message, task) {
          for (let word = 0; word < 9; word++) yield task.working(`w${word}`);
        },
      },
      { limits: { historyPerTask: 4 } },
    );
    expect((await at.task("x", { historyLength: 100 })).history.length).toBe(4);
  });
});

describe("task.list", () => {
  async function withTasks() {
    const at = new TestRuntime({ echo, ask: (_message, task) => task.ask("?") });
    for (const session of ["s-1", "s-2", "s-1"]) {
      await at.task("x", { context: { sessionId: session } });
      at.timers.advance(10);
    }
    await at.task("x", { call: { agent: "ask" }, context: { idempotencyKey: "key-1", sessionId: "s-1" } });
    await at.task("x", { call: { caller: principal("bob") } });
    return at;
  }
  const ids = (page: AgentEvent) => tasksOf(page).map(({ id }) => id);

  test("lists the caller's tasks, newest status first, without artifacts unless requested", async () => {
    const at = await withTasks();
    const page = await at.one({ kind: "task.list" });
    expect(page).toMatchObject({ pageSize: 50, totalSize: 4, nextPageToken: "" });
    const times = tasksOf(page).map(({ status }) => status.at);
    expect(times).toEqual([1_000_030, 1_000_020, 1_000_010, 1_000_000]);
    expect(page).toMatchObject({ tasks: [{ artifacts: [] }, { artifacts: [] }, { artifacts: [] }, { artifacts: [] }] });
    expect(await at.one({ kind: "task.list", artifacts: true, state: "completed", pageSize: 1 })).toMatchObject({
      tasks: [{ artifacts: [{ id: "result" }] }],
    });
    expect(await at.one({ kind: "task.list" }, bob)).toMatchObject({ totalSize: 1 });
  });

  test.each([
    [{ contextId: "s-1" }, 3],
    [{ contextId: "s-1", state: "completed" }, 2],
    [{ state: "input-required" }, 1],
    [{ idempotencyKey: "key-1" }, 1],
    [{ idempotencyKey: "key-1", contextId: "s-2" }, 0],
    [{ changedSince: 1_000_020 }, 2],
    [{ changedSince: 1_000_021 }, 1],
  ] as const)("filters by %j", async (filter, totalSize) => {
    const at = await withTasks();
    expect(await at.one({ kind: "task.list", ...filter })).toMatchObject({ totalSize });
  });

  test("pages without gap or repeat, also while tasks come", async () => {
    const at = await withTasks();
    const whole = ids(await at.one({ kind: "task.list" }));
    const first = await at.one({ kind: "task.list", pageSize: 3 });
    at.timers.advance(1);
    await at.task("new");
    const pageToken = "nextPageToken" in first ? first.nextPageToken : "none";
    const second = await at.one({ kind: "task.list", pageSize: 3, pageToken });
    expect([...ids(first), ...ids(second)]).toEqual(whole);
    expect(second).toMatchObject({ nextPageToken: "", totalSize: 5 });
  });

  test("tasks of the same moment are ordered by id", async () => {
    const at = new TestRuntime({ echo });
    for (let task = 0; task < 12; task++) await at.task("x");
    const got = ids(await at.one({ kind: "task.list" }));
    expect(got).toEqual([...got].sort());
  });

  test.each([
    { pageSize: 0 },
    { pageSize: 101 },
    { pageSize: 1.5 },
    { pageToken: "nonsense" },
    { pageToken: "12." },
    { historyLength: -1 },
  ])("refuses %j", async (bad) => {
    const at = new TestRuntime({ echo });
    const [field = ""] = Object.keys(bad);
    await expect(at.one({ kind: "task.list", ...bad })).rejects.toMatchObject({ code: "invalid_message", facts: { field } });
  });
});

describe("task.cancel", () => {
  test("aborts the agent's signal, runs its finally, and answers the canceled task; later output is refused", async () => {
    const log: string[] = [];
    const at = new TestRuntime({
      async *slow(_message, task) {
        try {
          yield "a";
          await new Promise((resolve) => task.signal.addEventListener("abort", resolve));
          log.push("aborted");
          yield "after";
          log.push("never");
        } finally {
          log.push("cleaned");
        }
      },
    });
    const task = taskOf(await at.send("x", { delivery: "accepted" }));
    await settle();
    const canceled = await at.one({ kind: "task.cancel", taskId: task.id });
    expect(brief(canceled)).toBe("task canceled");
    await settle();
    expect(log).toEqual(["aborted", "cleaned"]);
    expect((await at.get(task.id)).artifacts).toMatchObject([{ parts: [{ text: "a" }] }]);
    expect(at.runtime.stats()).toEqual({ runningTasks: 0, bareReplies: 0, openStreams: 0, abandonedRuns: 0 });
  });

  test("settles at once for an agent that does not listen", async () => {
    const at = new TestRuntime({ deaf: () => new Promise(() => undefined) });
    const answer = at.send("x", { task: "always" });
    await settle();
    const [task] = tasksOf(await at.one({ kind: "task.list" }));
    expect(brief(await at.one({ kind: "task.cancel", taskId: task?.id ?? "" }))).toBe("task canceled");
    expect(brief(await answer)).toBe("task canceled");
  });

  test("requested twice at once stops the agent once", async () => {
    const work = gate();
    const at = new TestRuntime({ deaf: () => work.passed.then(() => "late") });
    const { id: taskId } = await at.task("x", { delivery: "accepted" });
    const both = await Promise.all([at.one({ kind: "task.cancel", taskId }), at.one({ kind: "task.cancel", taskId })]);
    expect(both.map(brief)).toEqual(["task canceled", "task canceled"]);
    expect(at.runtime.stats().abandonedRuns).toBe(1);
    work.open();
    await settle();
    expect(at.runtime.stats().abandonedRuns).toBe(0);
    expect(await at.get(taskId)).toEqual(taskOf(both[0] ?? { kind: "done" }));
  });

  test("of a canceled task changes nothing; of another finished one is refused", async () => {
    const at = new TestRuntime({ ask: (_message, task) => task.ask("?"), echo });
    const asked = taskOf(await at.send("x"));
    const first = await at.one({ kind: "task.cancel", taskId: asked.id });
    at.timers.advance(5);
    expect(await at.one({ kind: "task.cancel", taskId: asked.id })).toEqual(first);
    const done = await at.task("x", { call: { agent: "echo" } });
    expect(await codeOf(at.one({ kind: "task.cancel", taskId: done.id }))).toBe("not_cancelable");
    expect(await codeOf(at.one({ kind: "task.cancel", taskId: done.id }, bob))).toBe("task_not_found");
  });

  test("reaches a holder elsewhere by its next renewal", async () => {
    const timers = manualTimers();
    const holder = new TestRuntime({ deaf: () => new Promise(() => undefined) }, { timers });
    const other = new TestRuntime({ deaf: () => "unused" }, { timers, store: holder.store, prefix: "other" });
    const { id } = await holder.task("x", { delivery: "accepted" });
    const canceled = other.one({ kind: "task.cancel", taskId: id });
    await settle();
    timers.advance(3_000);
    expect(brief(await canceled)).toBe("task canceled");
    const second = await holder.task("x", { delivery: "accepted" });
    await holder.runtime.close(0);
    expect((await other.get(second.id)).status).toMatchObject({ state: "failed", error: { code: "unavailable" } });
  });

  test("gives up on a silent holder after the grace period, and returns the task as it is", async () => {
    const timers = manualTimers();
    const holder = new TestRuntime({ deaf: () => new Promise(() => undefined) }, { timers, limits: { renewEveryMs: 60_000 } });
    const other = new TestRuntime({}, { timers, store: holder.store, prefix: "other", limits: { renewEveryMs: 60_000 } });
    const { id } = await holder.task("x", { delivery: "accepted" });
    const canceled = other.one({ kind: "task.cancel", taskId: id });
    await settle();
    timers.advance(5_000);
    expect(brief(await canceled)).toBe("task submitted");
  });
});

describe("task.subscribe", () => {
  async function running() {
    const work = gate();
    const at = new TestRuntime({
      async *talk() {
        yield "a";
        yield "b";
        await work.passed;
        yield "c";
      },
    });
    const first = taskOf(await at.send("x", { delivery: "accepted" }));
    await settle();
    return { at, work, id: first.id };
  }

  test("starts with the current task; all readers see the same events in the same order", async () => {
    const { at, work, id } = await running();
    const one = all(at.many(subscribeTo(id)));
    const two = all(at.many(subscribeTo(id)));
    await settle();
    work.open();
    const events = await one;
    expect(events.map(brief)).toEqual(["task submitted", "artifact result+", "status completed"]);
    expect(taskOf(events[0] ?? { kind: "done" }).artifacts[0]?.parts.length).toBe(2);
    expect(await two).toEqual(events);
  });

  test("from a cursor: the task as its reader left it, then all it has missed, also when the task is finished", async () => {
    const { at, work, id } = await running();
    const reader = at.many(subscribeTo(id, undefined, false));
    await reader.next();
    const { value: chunk } = await reader.next();
    work.open();
    await settle();
    const events = await all(at.many(subscribeTo(id, chunk.cursor)));
    expect(events.map(brief)).toEqual(["task submitted", "artifact result+", "artifact result+", "status completed"]);
    expect(taskOf(events[0] ?? { kind: "done" }).artifacts[0]?.parts).toMatchObject([{ text: "a" }]);
    const tail = await all(at.many(subscribeTo(id, events.at(-1)?.cursor)));
    expect(tail.map(brief)).toEqual(["task completed"]);
  });

  test("of a finished task without cursor is unsupported; its log can be read without following", async () => {
    const { at, work, id } = await running();
    work.open();
    await settle();
    expect(await codeOf(all(at.many(subscribeTo(id))))).toBe("unsupported");
    const log = await all(at.many(subscribeTo(id, undefined, false)));
    expect(log.map(brief)).toEqual([
      "task submitted",
      "artifact result",
      "artifact result+",
      "artifact result+",
      "status completed",
    ]);
  });

  test("the log of a running task ends without waiting", async () => {
    const { at, id } = await running();
    expect((await all(at.many(subscribeTo(id, undefined, false)))).map(brief)).toEqual([
      "task submitted",
      "artifact result",
      "artifact result+",
    ]);
  });

  test("stays open while the task waits for its caller", async () => {
    const at = new TestRuntime({ ask: (_message, task) => (task.turn === 1 ? task.ask("?") : "done") });
    const { id } = taskOf(await at.send("x"));
    const events = all(at.many(subscribeTo(id)));
    await settle();
    await at.send("y", { context: { taskId: id } });
    expect((await events).map(brief)).toEqual(["task input-required", "status working", "artifact result", "status completed"]);
  });

  test("rejects a missing task, another owner's, and cursors of another task", async () => {
    const { at, id } = await running();
    const cursor = (text: string) => text as Cursor;
    const codes = [];
    for (const operation of [
      subscribeTo("none"),
      subscribeTo(id, cursor("x")),
      subscribeTo(id, cursor("1.other")),
      subscribeTo(id, cursor(`zz.${id}`)),
      subscribeTo(id, cursor(`1.${"x".repeat(300)}`)),
    ]) {
      codes.push(await codeOf(all(at.many(operation))));
    }
    expect(codes).toEqual(["task_not_found", "invalid_message", "invalid_message", "invalid_message", "invalid_message"]);
    expect(await codeOf(all(at.many(subscribeTo(id), bob)))).toBe("task_not_found");
  });

  test("throws `expired` where entries are deleted, never a silent gap", async () => {
    const { at, id } = await running();
    const { read } = at.store;
    at.store.read = async (...args) => {
      const page = await read.apply(at.store, args);
      return page && { ...page, firstKept: 3 };
    };
    expect(await codeOf(all(at.many(subscribeTo(id, `1.${id}` as Cursor))))).toBe("expired");
    expect(await codeOf(all(at.many(subscribeTo(id, undefined, false))))).toBe("expired");
  });

  test("throws `expired` when the task is evicted during a read", async () => {
    const at = new TestRuntime({ ask: (_message, task) => task.ask("?") }, { limits: { keptTasks: 1 } });
    const { id } = taskOf(await at.send("x"));
    const events = all(at.many(subscribeTo(id)));
    await settle();
    await at.send("y");
    expect(await codeOf(events)).toBe("expired");
  });

  test("ends when its caller hangs up; return() does not wait", async () => {
    const { at, id } = await running();
    const cancel = new CancelSource();
    const events = all(at.many(subscribeTo(id), startCall({ cancel })));
    await settle();
    cancel.cancel(new AgentError("cancelled", "gone"));
    expect(await codeOf(events)).toBe("cancelled");
    expect(at.runtime.stats()).toMatchObject({ openStreams: 0, runningTasks: 1 });
  });

  test("a slow reader loses nothing while reading the journal in small pages", async () => {
    const at = new TestRuntime(
      {
        async *talk() {
          for (let chunk = 0; chunk < 50; chunk++) yield `${chunk}`;
        },
      },
      { limits: { entriesPerRead: 7 } },
    );
    const stream = at.stream("x");
    await stream.next();
    await settle();
    const chunks: string[] = [];
    for await (const event of stream) {
      await Promise.resolve();
      chunks.push(
        event.kind === "artifact" && event.artifact.parts[0]?.kind === "text" ? event.artifact.parts[0].text : brief(event),
      );
    }
    expect(chunks).toEqual([...Array.from({ length: 50 }, (_, chunk) => `${chunk}`), "status completed"]);
  });
});

describe("other operations", () => {
  test("ping is answered; card and session.close are not operations on tasks", async () => {
    const at = new TestRuntime({ echo });
    expect(await at.one({ kind: "ping" })).toEqual({ kind: "done" });
    expect(await codeOf(at.one({ kind: "card", extended: false }))).toBe("unsupported_method");
    expect(await codeOf(at.one({ kind: "session.close", sessionId: "s" }))).toBe("unsupported_method");
  });
});
