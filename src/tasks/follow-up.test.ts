import { describe, expect, test } from "vitest";
import { all, brief, codeOf, gate, principal, settle, TestRuntime, taskOf } from "../../test/helpers/tasks.js";
import { type Envelope, textOf } from "../envelope/index.js";
import { type AgentFunction, Relayed } from "./agent-function.js";

const texts = (history: readonly Envelope[]) => history.map(({ role, content }) => `${role}: ${textOf(content)}`);

/** Asks once, then answers with what it knows. */
const asker: AgentFunction = (message, task) => {
  if (task.turn === 1) {
    task.save({ first: message.text });
    return task.ask("which city?");
  }
  return { turn: task.turn, state: task.state, history: texts(task.history), said: message.text };
};

describe("a message that names its task", () => {
  test("starts the next turn of an interrupted task, with its history and saved state", async () => {
    const at = new TestRuntime({ asker });
    const asked = taskOf(await at.send("weather?"));
    const done = taskOf(await at.send("Paris", { context: { taskId: asked.id } }));
    expect(done.id).toBe(asked.id);
    expect(done.status.state).toBe("completed");
    expect(done.artifacts).toMatchObject([
      {
        id: "result",
        parts: [
          { data: { turn: 2, state: { first: "weather?" }, history: ["user: weather?", "agent: which city?"], said: "Paris" } },
        ],
      },
    ]);
    expect(texts(done.history)).toEqual(["user: weather?", "agent: which city?", "user: Paris"]);
  });

  test("streams the new turn, from the working task on", async () => {
    const at = new TestRuntime({ asker });
    const asked = taskOf(await at.send("weather?"));
    const events = await all(at.stream("Paris", { context: { taskId: asked.id, sessionId: asked.contextId } }));
    expect(events.map(brief)).toEqual(["task working", "artifact result", "status completed"]);
  });

  test("does not overwrite answers of an earlier turn", async () => {
    const at = new TestRuntime({
      async *talk(message, task) {
        yield message.text;
        return task.turn === 1 ? task.ask("more?") : undefined;
      },
    });
    const first = taskOf(await at.send("one"));
    const second = taskOf(await at.send("two", { context: { taskId: first.id } }));
    expect(second.artifacts.map(({ id, parts }) => [id, textOf(parts)])).toEqual([
      ["result", "one"],
      ["result-2", "two"],
    ]);
  });

  test("that arrived while its turn was ending sees the state saved last", async () => {
    const opened = gate();
    const states: unknown[] = [];
    const at = new TestRuntime({
      async *relay(_message, task) {
        states.push(task.state);
        if (task.turn === 2) return "done";
        await opened.passed;
        yield new Relayed([], { task: "elsewhere" });
        const status = { state: "input-required", at: 1, message: undefined } as const;
        return new Relayed([{ kind: "status", taskId: "e", contextId: "e", status }], undefined);
      },
    });
    const { id } = await at.task("one", { delivery: "accepted" });
    const second = at.send("two", { context: { taskId: id } });
    await settle();
    opened.open();
    expect(taskOf(await second).status.state).toBe("completed");
    expect(states).toEqual([undefined, { task: "elsewhere" }]);
  });

  test("an unknown task and another owner's are both not found", async () => {
    const at = new TestRuntime({ asker });
    const asked = taskOf(await at.send("x", { call: { caller: principal("ann") } }));
    const foreign = { context: { taskId: asked.id }, call: { caller: principal("bob") } };
    const unknown = { context: { taskId: "none" }, call: { caller: principal("bob") } };
    const errors = [];
    for (const options of [foreign, unknown])
      errors.push(await at.send("y", options).catch((thrown) => [thrown.code, thrown.message]));
    expect(errors).toEqual([
      ["task_not_found", "task not found"],
      ["task_not_found", "task not found"],
    ]);
  });

  test("a finished task is closed", async () => {
    const at = new TestRuntime({ echo: () => "x" });
    const { id } = await at.task("x");
    expect(await codeOf(at.send("y", { context: { taskId: id } }))).toBe("task_closed");
  });

  test("another session than the task's is refused by name", async () => {
    const at = new TestRuntime({ asker });
    const asked = taskOf(await at.send("x"));
    await expect(at.send("y", { context: { taskId: asked.id, sessionId: "other" } })).rejects.toMatchObject({
      code: "invalid_message",
      facts: { field: "context.sessionId" },
    });
  });

  test("to a running task it waits for the next turn; turns never overlap and none is lost", async () => {
    const work = gate();
    const log: string[] = [];
    const at = new TestRuntime({
      slow: async (message, task) => {
        log.push(`begin ${task.turn} ${message.text}`);
        await work.passed;
        log.push(`end ${task.turn}`);
        return message.text;
      },
    });
    const { id } = await at.task("one", { delivery: "accepted" });
    const two = at.send("two", { context: { taskId: id } });
    const three = at.send("three", { context: { taskId: id } });
    await settle();
    expect(log).toEqual(["begin 1 one"]);
    work.open();
    const [afterTwo, afterThree] = [taskOf(await two), taskOf(await three)];
    expect(log).toEqual(["begin 1 one", "end 1", "begin 2 two", "end 2", "begin 3 three", "end 3"]);
    expect(afterTwo.status.state).toBe("completed");
    expect(afterThree.artifacts.map(({ id, parts }) => [id, textOf(parts)])).toEqual([
      ["result", "one"],
      ["result-2", "two"],
      ["result-3", "three"],
    ]);
  });

  test("a question that a queued message may answer is recorded, and the turn continues", async () => {
    const work = gate();
    const at = new TestRuntime({
      slow: async (message, task) => {
        if (task.turn > 1) return { history: texts(task.history), state: task.state, said: message.text };
        await work.passed;
        task.save("kept");
        return task.ask("which?");
      },
    });
    const { id } = await at.task("one", { delivery: "accepted" });
    const answer = at.send("two", { context: { taskId: id } });
    await settle();
    work.open();
    const task = taskOf(await answer);
    expect(task.status.state).toBe("completed");
    expect(task.artifacts).toMatchObject([
      { parts: [{ data: { state: "kept", said: "two", history: expect.arrayContaining(["agent: which?"]) } }] },
    ]);
  });

  test("a cancel while the turn is ending stops the next one", async () => {
    const work = gate();
    const ended = gate();
    const at = new TestRuntime({ slow: (message) => work.passed.then(() => message.text) });
    const { id } = await at.task("one", { delivery: "accepted" });
    await at.send("two", { delivery: "accepted", context: { taskId: id } });
    const { append } = at.store;
    let canceled: Promise<unknown> = Promise.resolve();
    at.store.append = async (taskId, batch) => {
      at.store.append = append;
      canceled = at.one({ kind: "task.cancel", taskId }).finally(ended.open);
      await settle();
      return append.call(at.store, taskId, batch);
    };
    work.open();
    await ended.passed;
    await canceled;
    const task = await at.get(id);
    expect(task.status.state).toBe("canceled");
    expect(task.artifacts.map(({ parts }) => textOf(parts))).toEqual(["one"]);
  });

  test("too many waiting messages are refused", async () => {
    const at = new TestRuntime({ hang: () => new Promise(() => undefined) }, { limits: { inputsPerTask: 1 } });
    const { id } = await at.task("one", { delivery: "accepted" });
    await at.send("two", { delivery: "accepted", context: { taskId: id } });
    expect(await codeOf(at.send("three", { context: { taskId: id } }))).toBe("overloaded");
  });

  test("a full journal rejects further messages", async () => {
    const at = new TestRuntime({ asker }, { limits: { journalEntries: 2 } });
    const { id } = taskOf(await at.send("one"));
    expect(await codeOf(at.send("two", { context: { taskId: id } }))).toBe("too_large");
    expect((await at.get(id)).status.state).toBe("input-required");
  });

  test("repeated with its key it is delivered once", async () => {
    let turns = 0;
    const at = new TestRuntime({
      asker: (_message, task) => {
        turns += 1;
        return task.ask(`turn ${task.turn}`);
      },
    });
    const { id } = taskOf(await at.send("one"));
    const context = { taskId: id, idempotencyKey: "k" };
    const first = taskOf(await at.send("two", { context }));
    const again = taskOf(await at.send("two", { context }));
    expect(turns).toBe(2);
    expect(again.status).toEqual(first.status);
  });

  test("two concurrent answers start two turns, one after the other", async () => {
    const log: string[] = [];
    const at = new TestRuntime({
      asker: async (message, task) => {
        log.push(`begin ${task.turn} ${message.text}`);
        await settle();
        log.push(`end ${task.turn}`);
        return task.turn < 3 ? task.ask("?") : "done";
      },
    });
    const { id } = taskOf(await at.send("one"));
    const answers = await Promise.all([at.send("a", { context: { taskId: id } }), at.send("b", { context: { taskId: id } })]);
    expect(log).toEqual(["begin 1 one", "end 1", "begin 2 a", "end 2", "begin 3 b", "end 3"]);
    expect(answers.map(brief)).toEqual(["task completed", "task completed"]);
  });
});
