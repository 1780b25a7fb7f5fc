import { describe, expect, test } from "vitest";
import { all, brief, codeOf, gate, principal, TestRuntime, taskOf, userMessage } from "../../test/helpers/tasks.js";
import { type AgentEvent, dataPart, type Part, requestDigest } from "../envelope/index.js";

const key = (idempotencyKey: string) => ({ context: { idempotencyKey } });

describe("an idempotency key", () => {
  test("makes a task of a bare reply, and starts it once", async () => {
    let runs = 0;
    const at = new TestRuntime({ count: () => `run ${++runs}` });
    const first = taskOf(await at.send("x", key("k")));
    const again = taskOf(await at.send("x", key("k")));
    expect(again).toEqual(first);
    expect(runs).toBe(1);
  });

  test("returns the running task, for any delivery of the repeat", async () => {
    const work = gate();
    let runs = 0;
    const at = new TestRuntime({
      slow: async () => {
        runs += 1;
        await work.passed;
        return "done";
      },
    });
    const sends = [at.send("x", key("k")), at.send("x", key("k"))];
    const accepted = taskOf(await at.send("x", { ...key("k"), delivery: "accepted" }));
    const reader = at.stream("x", key("k"))[Symbol.asyncIterator]();
    // The first event shows that the reader is there; the digest of the request takes a time of its own.
    const events = [(await reader.next()).value as AgentEvent];
    work.open();
    for (let step = await reader.next(); step.done !== true; step = await reader.next()) events.push(step.value);
    const [one, two] = await Promise.all(sends);
    expect(runs).toBe(1);
    expect(one).toEqual(two);
    expect(accepted).toMatchObject({ id: taskOf(one ?? { kind: "done" }).id, status: { state: "submitted" } });
    expect(events.map(brief)).toEqual(["task submitted", "artifact result", "status completed"]);
    expect((await all(at.stream("x", key("k")))).map(brief)).toEqual(["task completed"]);
  });

  test("with another request is a conflict", async () => {
    const at = new TestRuntime({ echo: (message) => message.text });
    await at.send("x", key("k"));
    expect(await codeOf(at.send("y", key("k")))).toBe("conflict");
  });

  test("belongs to one owner and one agent", async () => {
    let runs = 0;
    const at = new TestRuntime({ a: () => `${++runs}`, b: () => `${++runs}` });
    await at.send("x", key("k"));
    await at.send("x", { ...key("k"), call: { agent: "b" } });
    await at.send("x", { ...key("k"), call: { caller: principal("bob") } });
    expect(runs).toBe(3);
  });

  test("whose task is evicted has expired, and is free again after its time", async () => {
    let runs = 0;
    const at = new TestRuntime({ count: () => `${++runs}` }, { limits: { keptTasksMs: 1_000, idempotencyKeepMs: 5_000 } });
    await at.send("x", key("k"));
    at.timers.advance(1_000);
    expect(await codeOf(at.send("x", key("k")))).toBe("expired");
    expect(runs).toBe(1);
    at.timers.advance(4_000);
    await at.send("x", key("k"));
    expect(runs).toBe(2);
  });

  test.each(["", "x".repeat(257), "é".repeat(129)])("must have 1 to 256 bytes: %#", async (bad) => {
    const at = new TestRuntime({ echo: () => "x" });
    await expect(at.send("x", key(bad))).rejects.toMatchObject({
      code: "invalid_message",
      facts: { field: "context.idempotencyKey" },
    });
    expect(at.runtime.stats().runningTasks).toBe(0);
  });

  test("is refused rather than another forgotten when too many are kept", async () => {
    const at = new TestRuntime({ echo: () => "x" }, { limits: { idempotencyKeysPerOwner: 2 } });
    for (const name of ["1", "2"]) await at.send("x", key(name));
    expect(await codeOf(at.send("x", key("3")))).toBe("overloaded");
    expect(brief(await at.send("x", key("1")))).toBe("task completed");
    expect(brief(await at.send("x", { ...key("3"), call: { caller: principal("bob") } }))).toBe("task completed");
  });
});

describe("requestDigest()", () => {
  test("does not mind the order of members, and minds everything else", async () => {
    const of = (...parts: Part[]) => requestDigest("a", parts);
    const base = await of(dataPart({ a: 1, b: [{ c: null }] }));
    expect(await of(dataPart({ b: [{ c: null }], a: 1 }))).toBe(base);
    const others = [
      await of(dataPart({ a: 1, b: [{ c: 0 }] })),
      await of(dataPart([["a", 1]])),
      await of({ ...dataPart({ a: 1, b: [{ c: null }] }), name: "n" }),
      await requestDigest("b", [dataPart({ a: 1, b: [{ c: null }] })]),
      await of(...userMessage("x").content),
      await of({ kind: "raw", bytes: new Uint8Array([1, 2]) }),
      await of({ kind: "raw", bytes: new Uint8Array([1, 3]) }),
      await of({ kind: "url", url: "x" }),
    ];
    expect(new Set([base, ...others]).size).toBe(9);
  });

  // SHA-256 of `"a"`, checked with `printf '"a"' | sha256sum`.
  test("is a SHA-256", async () => {
    expect(await requestDigest("a", [])).toBe("ac8d8342bbb2362d13f0a559a3621bb407011368895164b628a54f7fc33fc43c");
  });
});
