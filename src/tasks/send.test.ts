import { describe, expect, test } from "vitest";
import { all, brief, codeOf, gate, principal, settle, TestRuntime, taskOf } from "../../test/helpers/tasks.js";
import { AgentError, CancelSource, textOf } from "../envelope/index.js";

describe("send, a bare reply", () => {
  test("returns a message from the agent to its caller", async () => {
    const at = new TestRuntime({ echo: async (message) => message.text.toUpperCase() });
    const event = await at.send("hi", { context: { traceId: "t-1", sessionId: "s-1" } });
    expect(event).toMatchObject({
      kind: "message",
      message: { role: "agent", src: "echo", dst: "caller", intent: "chat", context: { traceId: "t-1", sessionId: "s-1" } },
    });
    expect(event).toMatchObject({ message: { content: [{ kind: "text", text: "HI" }], id: expect.stringMatching(/^id-/) } });
  });

  test("names the message it answers, and mints a session where none is given", async () => {
    const at = new TestRuntime({ echo: () => ({ answer: 42 }) });
    const event = await at.send("hi");
    expect(event).toMatchObject({
      message: {
        content: [{ kind: "data", data: { answer: 42 } }],
        context: { parentId: expect.stringMatching(/^m-/), sessionId: "id-2" },
      },
    });
  });

  test("is the result of a generator that yields nothing, also as a stream", async () => {
    const at = new TestRuntime({
      async *quiet(message) {
        if (message.text === "") yield "never";
        return "done";
      },
    });
    expect((await at.send("x")).kind).toBe("message");
    expect((await all(at.stream("x"))).map(brief)).toEqual(["message"]);
  });

  test("has one part even if the agent has nothing to say", async () => {
    const at = new TestRuntime({ mute: async () => undefined });
    expect(await at.send("x")).toMatchObject({ message: { content: [{ kind: "text", text: "" }] } });
  });

  test("fails with the agent's error; other errors are hidden", async () => {
    const at = new TestRuntime({
      async ours() {
        throw new AgentError("unsupported_content", "no pictures");
      },
      theirs() {
        throw new Error("password hunter2");
      },
    });
    await expect(at.send("x")).rejects.toMatchObject({ code: "unsupported_content", message: "no pictures" });
    // Work that broke is a failed task, as in protocols where every message has one.
    await expect(at.send("x", { call: { agent: "theirs" } })).resolves.toMatchObject({
      kind: "task",
      task: { status: { state: "failed", error: { code: "internal", message: "the agent failed unexpectedly" } } },
    });
  });

  test("is stopped when the caller hangs up, and the answer ends though the agent does not listen", async () => {
    let signal: AbortSignal | undefined;
    const at = new TestRuntime({
      hang: (_message, task) => {
        signal = task.signal;
        return new Promise(() => undefined);
      },
    });
    const cancel = new CancelSource();
    const answer = at.send("x", { call: { cancel } });
    await settle();
    cancel.cancel(new AgentError("cancelled", "gone"));
    expect(await codeOf(answer)).toBe("cancelled");
    expect(signal?.aborted).toBe(true);
    expect(at.runtime.stats()).toMatchObject({ bareReplies: 0, abandonedRuns: 1 });
  });

  test("ends with its ttlMs, and with the call's deadline", async () => {
    const at = new TestRuntime({ hang: () => new Promise(() => undefined) });
    const byTtl = at.send("x", { context: { ttlMs: 50 } });
    const byDeadline = at.send("x", { call: { deadline: 1_000_020 } });
    await settle();
    at.timers.advance(20);
    expect(await codeOf(byDeadline)).toBe("deadline");
    at.timers.advance(30);
    expect(await codeOf(byTtl)).toBe("deadline");
  });

  test.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])("refuses ttlMs %d", async (ttlMs) => {
    const at = new TestRuntime({ echo: () => "x" });
    await expect(at.send("x", { context: { ttlMs } })).rejects.toMatchObject({
      code: "invalid_message",
      facts: { field: "context.ttlMs" },
    });
    expect(await codeOf(at.send("x", { context: { ttlMs }, task: "always" }))).toBe("invalid_message");
  });

  test("goes to the named agent; an unknown one is not found", async () => {
    const at = new TestRuntime({ a: () => "from a", b: () => "from b" });
    expect(await at.send("x", { call: { agent: "b" } })).toMatchObject({ message: { src: "b" } });
    expect(await at.send("x")).toMatchObject({ message: { src: "a" } });
    expect(await codeOf(at.send("x", { call: { agent: "c" } }))).toBe("not_found");
  });
});

describe("send, a task", () => {
  test("holds the returned value as its unnamed artifact `result` and is completed without a message", async () => {
    const at = new TestRuntime({ echo: async (message) => message.text });
    const task = await at.task("hi");
    expect(task).toMatchObject({
      status: { state: "completed" },
      artifacts: [{ id: "result", parts: [{ kind: "text", text: "hi" }] }],
      history: [{ role: "user", content: [{ text: "hi" }] }],
    });
    expect(task.status.message).toBeUndefined();
    expect(task.artifacts[0]?.name).toBeUndefined();
  });

  test("is created with the first yield", async () => {
    const at = new TestRuntime({
      async *talk(_message, task) {
        yield task.working("looking");
        yield task.artifact("A", { name: "a.txt", id: "a" });
        return "B";
      },
    });
    const task = taskOf(await at.send("x"));
    expect(task.artifacts.map(({ id, name }) => [id, name])).toEqual([
      ["a", "a.txt"],
      ["result", undefined],
    ]);
    expect(task.history.map(({ role, content }) => [role, textOf(content)])).toEqual([
      ["user", "x"],
      ["agent", "looking"],
    ]);
  });

  test("streams yielded strings as chunks of `result`, the returned one last", async () => {
    const at = new TestRuntime({
      async *talk() {
        yield "a";
        yield "b";
        return "c";
      },
    });
    const events = await all(at.stream("x"));
    expect(events.map(brief)).toEqual([
      "task submitted",
      "artifact result",
      "artifact result+",
      "artifact result+",
      "status completed",
    ]);
    expect(events[3]).toMatchObject({ last: true, artifact: { parts: [{ text: "c" }] } });
    expect(new Set(events.map(({ cursor }) => cursor)).size).toBe(5);
  });

  test("`accepted` answers at once with the submitted task", async () => {
    const work = gate();
    const at = new TestRuntime({ slow: () => work.passed.then(() => "late") });
    const task = taskOf(await at.send("x", { delivery: "accepted" }));
    expect(task.status.state).toBe("submitted");
    work.open();
    await settle();
    expect((await at.get(task.id)).status.state).toBe("completed");
  });

  test.each([
    ["ask", "input-required"],
    ["askForAuthorization", "auth-required"],
    ["reject", "rejected"],
    ["fail", "failed"],
    ["complete", "completed"],
  ] as const)("ends by task.%s as %s, with a status message", async (method, state) => {
    const at = new TestRuntime({ end: (_message, task) => task[method]("because") });
    const task = taskOf(await at.send("x"));
    expect(task.status).toMatchObject({
      state,
      message: { role: "agent", content: [{ text: "because" }], context: { taskId: task.id } },
    });
  });

  test("fails with code and message of an AgentError, and with a neutral message otherwise", async () => {
    const at = new TestRuntime({
      async *ours() {
        yield "a";
        throw new AgentError("forbidden", "not for you");
      },
      async *theirs() {
        yield "a";
        throw new Error("password hunter2");
      },
    });
    const ours = taskOf(await at.send("x"));
    expect(ours.status).toMatchObject({ state: "failed", error: { code: "forbidden", message: "not for you" } });
    const theirs = taskOf(await at.send("x", { call: { agent: "theirs" } }));
    expect(theirs.status).toMatchObject({
      state: "failed",
      error: { code: "internal", message: "the agent failed unexpectedly" },
    });
    expect(theirs.status.message?.content).toMatchObject([{ text: "the agent failed unexpectedly" }]);
    expect(JSON.stringify(theirs)).not.toContain("hunter2");
  });

  test("an agent's own JSON with the members of an ending is data", async () => {
    const at = new TestRuntime({ data: () => ({ state: "input-required", content: "x" }) });
    expect((await at.task("x")).artifacts).toMatchObject([{ parts: [{ kind: "data", data: { state: "input-required" } }] }]);
  });

  test("writes the entries of one tick with one append", async () => {
    const at = new TestRuntime({
      async *talk(_message, task) {
        yield task.working("1");
        yield task.working("2");
        return "end";
      },
    });
    const sizes: number[] = [];
    const append = at.store.append.bind(at.store);
    at.store.append = (taskId, batch) => {
      sizes.push(batch.events.length);
      return append(taskId, batch);
    };
    await at.send("x");
    expect(sizes).toEqual([4]);
  });

  test("10,000 chunks cost 10,000 entries, each written once and folded on the one look", async () => {
    const at = new TestRuntime(
      {
        async *talk() {
          for (let chunk = 0; chunk < 10_000; chunk++) yield "x";
        },
      },
      { limits: { journalEntries: 10_002 } },
    );
    let written = 0;
    let looks = 0;
    const { append, snapshot } = at.store;
    at.store.append = (taskId, batch) => {
      written += batch.events.length;
      return append.call(at.store, taskId, batch);
    };
    at.store.snapshot = (...args) => {
      looks += 1;
      return snapshot.apply(at.store, args);
    };
    const task = taskOf(await at.send("x"));
    expect(task.artifacts[0]?.parts.length).toBe(10_000);
    expect({ written, looks }).toEqual({ written: 10_001, looks: 1 });
  });

  test("continues when its caller disconnects; the answer ends", async () => {
    const work = gate();
    let aborted: boolean | undefined;
    const at = new TestRuntime({
      slow: async (_message, task) => {
        await work.passed;
        aborted = task.signal.aborted;
        return "done";
      },
    });
    const cancel = new CancelSource();
    const answer = at.send("x", { task: "always", call: { cancel } });
    await settle();
    cancel.cancel(new AgentError("cancelled", "gone"));
    expect(await codeOf(answer)).toBe("cancelled");
    work.open();
    await settle();
    const page = await at.one({ kind: "task.list" });
    expect(page).toMatchObject({ tasks: [{ status: { state: "completed" } }] });
    expect(aborted).toBe(false);
  });

  test("outlives the call's deadline, which limits the wait only", async () => {
    const at = new TestRuntime({ hang: () => new Promise(() => undefined) });
    const answer = at.send("x", { task: "always", call: { deadline: 1_000_010 } });
    await settle();
    at.timers.advance(10);
    expect(await codeOf(answer)).toBe("deadline");
    expect(at.runtime.stats().runningTasks).toBe(1);
  });

  test("fails with `deadline` when its ttlMs is over, though its agent hangs forever", async () => {
    let signal: AbortSignal | undefined;
    const at = new TestRuntime({
      async *hang(_message, task) {
        signal = task.signal;
        yield "a";
        await new Promise(() => undefined);
      },
    });
    const answer = at.send("x", { context: { ttlMs: 500 } });
    await settle();
    at.timers.advance(499);
    await settle();
    expect(signal?.aborted).toBe(false);
    at.timers.advance(1);
    expect(taskOf(await answer).status).toMatchObject({ state: "failed", error: { code: "deadline" } });
    expect(signal?.aborted).toBe(true);
    expect(at.runtime.stats()).toMatchObject({ runningTasks: 0, abandonedRuns: 1 });
  });

  test("a reader that stops early leaves it running", async () => {
    const work = gate();
    const at = new TestRuntime({
      async *talk() {
        yield "a";
        await work.passed;
        return "b";
      },
    });
    const events = at.stream("x");
    const first = await events.next();
    await events.next();
    const waiting = events.next();
    expect(await events.return?.()).toMatchObject({ done: true });
    expect(await waiting).toMatchObject({ done: true });
    expect(at.runtime.stats()).toMatchObject({ openStreams: 0, runningTasks: 1 });
    work.open();
    await settle();
    expect((await at.get(taskOf(first.value).id)).status.state).toBe("completed");
  });

  test("a stream ends at input-required and stays open at auth-required", async () => {
    const at = new TestRuntime({
      ask: (_message, task) => task.ask("?"),
      auth: (_message, task) => task.askForAuthorization("?"),
    });
    expect((await all(at.stream("x"))).map(brief)).toEqual(["task submitted", "status input-required"]);
    const open = at.stream("x", { call: { agent: "auth" } });
    const first = await open.next();
    expect(await open.next()).toMatchObject({ value: { status: { state: "auth-required" } } });
    const next = open.next();
    await at.one({ kind: "task.cancel", taskId: taskOf(first.value).id });
    expect(await next).toMatchObject({ value: { status: { state: "canceled" } } });
    expect(await open.next()).toMatchObject({ done: true });
  });

  test("returns the requested length of history", async () => {
    const at = new TestRuntime({
      async *talk(_message, task) {
        yield task.working("1");
        yield task.working("2");
      },
    });
    const lengths = [];
    for (const historyLength of [undefined, 0, 2]) lengths.push((await at.task("x", { historyLength })).history.length);
    expect(lengths).toEqual([3, 0, 2]);
    expect(await codeOf(at.send("x", { historyLength: -1 }))).toBe("invalid_message");
  });

  test("provides caller, modes, turn and a snapshot of its output", async () => {
    const seen: unknown[] = [];
    const at = new TestRuntime({
      async *look(_message, task) {
        seen.push(task.caller, task.outputModes, task.turn, task.history, task.id, await task.snapshot());
        yield "a";
        seen.push(task.id, (await task.snapshot())?.artifacts.length);
      },
    });
    await at.send("x", { outputModes: ["text/plain"], call: { caller: principal("ann") } });
    expect(seen).toEqual(["ann", ["text/plain"], 1, [], undefined, undefined, "id-3", 1]);
  });
});

describe("send, limits", () => {
  test("a journal that is full fails the task with too_large", async () => {
    const byEntries = new TestRuntime(
      {
        async *talk() {
          for (;;) yield "x";
        },
      },
      { limits: { journalEntries: 100 } },
    );
    expect((await byEntries.task("x")).status).toMatchObject({ state: "failed", error: { code: "too_large" } });
    const byBytes = new TestRuntime({ big: () => "x".repeat(2_000) }, { limits: { journalBytes: 1_000 } });
    expect((await byBytes.task("x")).status).toMatchObject({ state: "failed", error: { code: "too_large" } });
  });

  test("too many running tasks are refused, in all and per owner, before and after the agent has begun", async () => {
    let cleaned = false;
    const at = new TestRuntime(
      {
        hang: () => new Promise(() => undefined),
        async *talk() {
          try {
            yield "a";
          } finally {
            cleaned = true;
          }
        },
      },
      { limits: { runningTasks: 2, runningTasksPerOwner: 1 } },
    );
    const of = (id: string, agent = "hang") => ({ delivery: "accepted", call: { caller: principal(id), agent } }) as const;
    await at.send("x", of("ann"));
    expect(await codeOf(at.send("x", of("ann")))).toBe("overloaded");
    await at.send("x", of("bob"));
    expect(await codeOf(at.send("x", { call: { caller: principal("cay"), agent: "talk" } }))).toBe("overloaded");
    await settle();
    expect(cleaned).toBe(true);
    expect(at.runtime.stats()).toMatchObject({ runningTasks: 2, bareReplies: 0 });
  });

  test("counts agents that ignore their cancel, and starts no more at the limit", async () => {
    const work = gate();
    const at = new TestRuntime({ deaf: () => work.passed.then(() => "late") }, { limits: { abandonedRuns: 1 } });
    const task = await at.task("x", { delivery: "accepted" });
    await at.one({ kind: "task.cancel", taskId: task.id });
    expect(await codeOf(at.send("x", { task: "always" }))).toBe("overloaded");
    work.open();
    await settle();
    expect(at.runtime.stats().abandonedRuns).toBe(0);
    expect((await at.task("x")).status.state).toBe("completed");
  });

  test("an agent cannot save more state than stateBytes", async () => {
    const at = new TestRuntime({ big: async (_message, task) => task.save("x".repeat(20)) }, { limits: { stateBytes: 10 } });
    expect((await at.task("x")).status).toMatchObject({ error: { code: "too_large" } });
  });
});
