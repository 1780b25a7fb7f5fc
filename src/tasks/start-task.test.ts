import { describe, expect, test } from "vitest";
import { codeOf, manualTimers, settle, TestRuntime, taskOf } from "../../test/helpers/tasks.js";
import type { Maybe } from "../envelope/index.js";
import type { NewTask, Store } from "./store.js";
import { createMemoryStore } from "./stores/memory.js";

/** A store that answers early and decides later. */
function answersEarly(): { readonly store: Store; readonly started: NewTask[]; decide(refused: Maybe<"full">): void } {
  const memory = createMemoryStore({ now: manualTimers().now });
  const started: NewTask[] = [];
  let decide: (refused: Maybe<"full">) => void = () => undefined;
  const stored = new Promise<Maybe<"full">>((resolve) => {
    decide = resolve;
  });
  const store: Store = Object.create(memory, {
    create: {
      value: async (start: NewTask) => {
        started.push(start);
        return start.early === true ? { ...(await memory.create(start)), stored } : memory.create(start);
      },
    },
    append: { value: memory.append.bind(memory) },
    read: { value: memory.read.bind(memory) },
    snapshot: { value: memory.snapshot.bind(memory) },
    wake: { value: memory.wake.bind(memory) },
  });
  return { store, started, decide: (refused) => decide(refused) };
}

async function* talk() {
  yield "a";
  return "b";
}

describe("a task that begins before it is stored", () => {
  test("is answered when it is stored, and not before", async () => {
    const { store, decide } = answersEarly();
    const at = new TestRuntime({ talk }, { store });
    let answered = false;
    const answer = at.send("x").finally(() => {
      answered = true;
    });
    await settle();
    expect(answered).toBe(false);
    decide(undefined);
    expect(taskOf(await answer).status.state).toBe("completed");
  });

  test("is refused where there is no room after all", async () => {
    const { store, decide } = answersEarly();
    const at = new TestRuntime({ talk }, { store });
    const answer = codeOf(at.send("x"));
    decide("full");
    expect(await answer).toBe("overloaded");
  });

  test("is none whose caller is told of it before its end", async () => {
    const { store, started } = answersEarly();
    const at = new TestRuntime({ talk }, { store });
    await at.stream("x").next();
    await at.send("x", { delivery: "accepted" });
    await at.send("x", { context: { idempotencyKey: "k" } });
    expect(started.map(({ early }) => early)).toEqual([false, false, false]);
  });
});

test("a task gets an id of its own kind, where the source of ids has one", async () => {
  const at = new TestRuntime({ talk }, { newTaskId: () => "task-1" });
  expect((await at.task("x")).id).toBe("task-1");
});
