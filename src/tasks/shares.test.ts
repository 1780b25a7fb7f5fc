import { describe, expect, test } from "vitest";
import { codeOf, settle, TestRuntime } from "../../test/helpers/tasks.js";
import { AgentError, CancelSource, ownerOf, type Principal, startCall } from "../envelope/index.js";
import { createMemoryStore } from "./stores/memory.js";

/** Quotas count a caller over all its tenants, and leave room for others. */

const hang = () => new Promise<never>(() => undefined);
const principal = (id: string, tenant?: string): Principal => ({
  id,
  scheme: "bearer",
  tenant,
  scopes: [],
  owner: ownerOf("bearer", id, tenant),
});
const ANN = [principal("ann"), principal("ann", "a"), principal("ann", "b")] as const;
const BOB = principal("bob");
const as = (caller: Principal, cancel = new CancelSource()) => ({ call: { caller, cancel } });

describe("one caller in several tenants", () => {
  test("has one share of the calls that wait for an answer", async () => {
    const at = new TestRuntime({ hang }, { limits: { bareRepliesPerOwner: 2 } });
    for (const caller of ANN.slice(0, 2)) void at.send("x", as(caller)).catch(() => undefined);
    expect(await codeOf(at.send("x", as(ANN[2])))).toBe("overloaded");
    void at.send("x", as(BOB)).catch(() => undefined);
    expect(at.runtime.stats().bareReplies).toBe(3);
  });

  test("has one share of the running tasks", async () => {
    const at = new TestRuntime({ hang }, { limits: { runningTasksPerOwner: 2 } });
    for (const caller of ANN.slice(0, 2)) await at.send("x", { delivery: "accepted", ...as(caller) });
    expect(await codeOf(at.send("x", { delivery: "accepted", ...as(ANN[2]) }))).toBe("overloaded");
    expect((await at.send("x", { delivery: "accepted", ...as(BOB) })).kind).toBe("task");
  });

  test("that drops its calls uses up its own share of stopped ones, not everybody's", async () => {
    const answer = ({ text }: { readonly text: string }) => (text === "drop" ? hang() : "answered");
    const at = new TestRuntime({ answer }, { limits: { abandonedRuns: 10, abandonedRunsPerOwner: 2 } });
    for (let n = 0; n < 20; n++) {
      const cancel = new CancelSource();
      const dropped = at.send("drop", as(ANN[n % 3] ?? BOB, cancel));
      cancel.cancel(new AgentError("cancelled", "the caller disconnected"));
      await dropped.catch(() => undefined);
    }
    await settle();
    expect(at.runtime.stats().abandonedRuns).toBe(2);
    expect(await codeOf(at.send("x", as(ANN[0])))).toBe("overloaded");
    expect((await at.send("x", as(BOB))).kind).toBe("message");
    expect((await at.send("x", { delivery: "accepted", ...as(BOB) })).kind).toBe("task");
  });

  test("reads a few task lists at once", async () => {
    const store = createMemoryStore({ now: Date.now });
    const lists: (() => void)[] = [];
    const list: typeof store.list = (owner, query) =>
      new Promise((resolve) => lists.push(() => resolve(Object.getPrototypeOf(store).list.call(store, owner, query))));
    const at = new TestRuntime({ hang }, { limits: { listsPerOwner: 2 }, store: Object.assign(store, { list }) });
    const read = (caller: Principal) => at.one({ kind: "task.list" }, startCall({ caller }));
    const reading = ANN.slice(0, 2).map(read);
    expect(await codeOf(read(ANN[2]))).toBe("overloaded");
    reading.push(read(BOB));
    for (const done of lists) done();
    expect((await Promise.all(reading)).length).toBe(3);
  });
});
