import { describe, expect, test } from "vitest";
import { storeContract } from "../../../test/helpers/stores/store-contract.js";
import { TestRuntime } from "../../../test/helpers/tasks.js";
import { NO_META, type Task, type TaskEvent, textOf, textPart } from "../../envelope/index.js";
import { createMemoryStore } from "./memory.js";

function makeStore(limits: Parameters<typeof createMemoryStore>[0]["limits"]) {
  let nowMs = 1_000;
  const store = createMemoryStore({ limits, now: () => nowMs });
  return {
    store,
    advance(ms: number) {
      nowMs += ms;
    },
  };
}

describe("the store contract, by the memory store", () => {
  for (const requirement of storeContract) {
    test(requirement.name, async () => {
      expect(await requirement.check(makeStore)).toBeUndefined();
    });
  }

  test("is not met by a store that numbers wrongly", async () => {
    const [first] = storeContract;
    const broken = (limits: Parameters<typeof makeStore>[0]) => {
      const made = makeStore(limits);
      made.store.read = async () => ({ firstKept: 1, entries: [], closed: false });
      return made;
    };
    await expect(first?.check(broken)).rejects.toThrow("want");
  });
});

describe("createMemoryStore()", () => {
  const message = {
    id: "m",
    ts: 1,
    src: "s",
    dst: "d",
    intent: "",
    role: "user",
    content: [textPart("x".repeat(500))],
    context: {},
    meta: NO_META,
  } as const;
  const task = (id: string): Task => ({
    id,
    contextId: "c",
    status: { state: "submitted", at: 1_000 },
    artifacts: [],
    history: [message],
  });
  const start = (id: string) =>
    ({ task: task(id), owner: "o", agent: "a", key: undefined, lease: { holder: "h", leaseMs: 1_000 } }) as const;
  const close = { epoch: 1, after: 1, state: undefined, unlessQueued: false } as const;
  const completed = { kind: "status", taskId: "t", contextId: "c", status: { state: "completed", at: 1_000 } } as const;

  test("shows every entry of an ended task as it was appended", async () => {
    const { store } = makeStore({});
    await store.create(start("t"));
    const chunk = (id: string, text: string, rest: object = {}): TaskEvent => ({
      kind: "artifact",
      taskId: "t",
      contextId: "c",
      artifact: { id, parts: [textPart(text)] },
      append: true,
      last: false,
      ...rest,
    });
    const events = [
      chunk("a", "one", { append: false }),
      chunk("a", "two"),
      chunk("b", "three"),
      chunk("a", ""),
      chunk("a", "four", { last: true }),
      completed,
    ];
    await store.append("t", { ...close, events });
    const page = await store.read("t", "o", 1, 10);
    expect(page?.entries).toEqual(events.map((event, index) => ({ seq: index + 2, event })));
    const { artifacts } = (await store.snapshot("t", "o"))?.task ?? task("none");
    expect(artifacts.map(({ id, parts }) => [id, textOf(parts)])).toEqual([
      ["a", "one\ntwo\n\nfour"],
      ["b", "three"],
    ]);
    expect((await store.snapshot("t", "o", 3))?.task.artifacts.map(({ parts }) => textOf(parts))).toEqual(["one\ntwo"]);
  });

  test("keeps at most keptBytes, and returns `full` if nothing can be evicted", async () => {
    const { store } = makeStore({ keptBytes: 2_000 });
    for (const id of ["1", "2", "3", "4", "5", "6"]) {
      expect((await store.create(start(id))).made).toBe(true);
      await store.append(id, { ...close, events: [completed] });
      expect(store.size.bytes).toBeLessThanOrEqual(2_200);
    }
    await store.create(start("run-1"));
    await store.create(start("run-2"));
    expect(await store.create(start("run-3"))).toEqual({ made: false, because: "full" });
  });

  test("is flat after eviction: as many tasks and bytes after 5,000 sends as after 1,000", async () => {
    const at = new TestRuntime({ echo: () => "x" }, { limits: { keptTasks: 500 } });
    const store = at.store as ReturnType<typeof createMemoryStore>;
    const sizes = [];
    for (const sends of [1_000, 4_000]) {
      for (let send = 0; send < sends; send++) await at.task("x");
      sizes.push(store.size);
    }
    expect(sizes.map(({ tasks }) => tasks)).toEqual([500, 500]);
    // The names of later messages have a digit more.
    const [early = 0, late = 0] = sizes.map(({ bytes }) => bytes);
    expect(late - early).toBeLessThan(500 * 4);
  });
});
