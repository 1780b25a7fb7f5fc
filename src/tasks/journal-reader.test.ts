import { describe, expect, test } from "vitest";
import { all, brief, gate, settle, TestRuntime } from "../../test/helpers/tasks.js";
import { AgentError, type AgentEvent, CancelSource, type ReadyIterator, TAKE_READY, WHEN_READY } from "../envelope/index.js";

type Events = ReadyIterator<AgentEvent> & AsyncIterable<AgentEvent>;

/** Everything that is there without waiting. */
function ready(events: Events): string[] {
  const got: string[] = [];
  for (let event = events[TAKE_READY]?.(); event !== undefined; event = events[TAKE_READY]?.()) got.push(brief(event));
  return got;
}

describe("a stream of a store that reads at once", () => {
  test("gives the events of a burst without waiting for each, in order and with their cursors", async () => {
    const more = gate();
    const at = new TestRuntime({
      async *burst(_message, task) {
        yield task.working();
        yield task.artifact("a", { id: "r" });
        yield task.artifact("b", { id: "r", append: true });
        await more.passed;
        yield task.artifact("c", { id: "r", append: true, last: true });
      },
    });
    const events = at.stream("x") as Events;
    expect(brief((await events.next()).value)).toBe("task submitted");
    await settle();
    expect(ready(events)).toEqual(["status working", "artifact r", "artifact r+"]);
    const pending = events.next();
    expect(ready(events)).toEqual([]);
    more.open();
    const last = (await pending).value as AgentEvent;
    expect([brief(last), last.cursor]).toEqual(["artifact r+", expect.stringMatching(/^5\./)]);
    await settle();
    expect(ready(events)).toEqual(["status completed"]);
    expect(ready(events)).toEqual([]);
    expect((await events.next()).done).toBe(true);
  });

  test("gives concurrent reads the events in the order of the reads, and each event once", async () => {
    const more = gate();
    const at = new TestRuntime({
      async *late(_message, task) {
        yield task.working();
        await more.passed;
        yield task.artifact("a", { id: "r" });
      },
    });
    const events = at.stream("x");
    await events.next();
    const reads = Array.from({ length: 4 }, () => events.next());
    await settle();
    more.open();
    const got = await Promise.all(reads);
    expect(got.map((step) => (step.done === true ? "end" : brief(step.value)))).toEqual([
      "status working",
      "artifact r",
      "status completed",
      "end",
    ]);
  });

  test("goes on with a store that turns out to take time, and loses nothing", async () => {
    const more = gate();
    const at = new TestRuntime({
      async *slow(_message, task) {
        yield task.working();
        await more.passed;
        yield task.artifact("a", { id: "r" });
      },
    });
    const read = at.store.read.bind(at.store);
    let reads = 0;
    at.store.read = async (...args) => {
      reads++;
      await new Promise((resolve) => setImmediate(resolve));
      return read(...args);
    };
    const events = at.stream("x") as Events;
    await events.next();
    // Begins a read whose page comes later than the next entry.
    expect(ready(events)).toEqual([]);
    expect(reads).toBe(1);
    more.open();
    expect((await all(events)).map(brief)).toEqual(["status working", "artifact r", "status completed"]);
  });

  test("tells once who waits without a read: of the next entries, and of the end", async () => {
    const [more, rest] = [gate(), gate()];
    const at = new TestRuntime({
      async *idle(_message, task) {
        yield task.working();
        await more.passed;
        yield task.artifact("a", { id: "r" });
        await rest.passed;
      },
    });
    const events = at.stream("x") as Events;
    let told = 0;
    const waiter = { ready: () => void told++ };
    expect(events[WHEN_READY]?.(waiter)).toBe(false); // not opened: only a read opens it
    await events.next();
    await settle();
    expect(ready(events)).toEqual(["status working"]);
    expect(events[WHEN_READY]?.(waiter)).toBe(true);
    more.open();
    await settle();
    expect(told).toBe(1);
    expect(events[WHEN_READY]?.(waiter)).toBe(false); // there is something to take
    expect(ready(events)).toEqual(["artifact r"]);
    expect(events[WHEN_READY]?.(waiter)).toBe(true);
    await events.return?.();
    rest.open();
    await settle();
    expect(told).toBe(2);
    expect(events[WHEN_READY]?.(waiter)).toBe(false);
    expect((await events.next()).done).toBe(true);
  });

  test("fails a reader that waits without a read when its call is cancelled", async () => {
    const at = new TestRuntime({
      async *idle(_message, task) {
        yield task.working();
        await new Promise(() => {});
      },
    });
    const cancel = new CancelSource();
    const events = at.stream("x", { call: { cancel } }) as Events;
    await events.next();
    await settle();
    expect(ready(events)).toEqual(["status working"]);
    const told = new Promise<void>((resolve) => expect(events[WHEN_READY]?.({ ready: resolve })).toBe(true));
    cancel.cancel(new AgentError("cancelled", "the caller left"));
    await told;
    expect(ready(events)).toEqual([]);
    await expect(events.next()).rejects.toMatchObject({ code: "cancelled" });
  });
});
