import { describe, expect, it } from "vitest";
import { fakeClock } from "../../../test/helpers/clock.js";
import {
  collect,
  completed,
  iterate,
  openReply,
  PING,
  PONG,
  place,
  send,
  streamOf,
  working,
} from "../../../test/helpers/policies.js";
import {
  AgentError,
  type AgentEvent,
  CancelSource,
  type Handler,
  type Operation,
  type Reply,
  startCall,
} from "../../envelope/index.js";
import { type BulkheadOptions, bulkhead } from "./bulkhead.js";

const streamed = (priority?: number) => send({ priority }, { delivery: "stream" });

/** A bulkhead over a peer whose answers the test gives one by one. */
function narrow(change: Partial<BulkheadOptions> = {}) {
  const clock = fakeClock();
  const { heard, ...at } = place();
  const { layer, state } = bulkhead({
    ...at,
    clock,
    concurrent: 1,
    waiting: 3,
    waitMs: 1_000,
    agingMs: 100,
    reserved: 1,
    ...change,
  });
  const begun: { readonly operation: Operation; end(): void; fail(error: AgentError): void }[] = [];
  const hanging: Handler = (operation) => {
    const { reply, answer, fail } = openReply();
    begun.push({ operation, end: () => answer(PONG), fail });
    return reply;
  };
  const depths = () => heard.flatMap((note) => (note.kind === "queue" ? [note.depth] : []));
  return { clock, layer, handler: layer(hanging), state, begun, depths };
}
const priorities = (begun: readonly { readonly operation: Operation }[]) =>
  begun.map(({ operation }) => operation.kind === "send" && operation.envelope.context.priority);

describe("bulkhead, saturation", () => {
  it("runs up to the limit, queues up to the limit, rejects the rest, and recovers", async () => {
    const { handler, begun, state, depths, clock } = narrow({ concurrent: 2 });
    const all = Array.from({ length: 6 }, () => collect(handler(send(), startCall())));
    expect([begun.length, state()]).toEqual([2, { running: 2, waiting: 3 }]);
    expect((await all[5])?.thrown).toMatchObject({ code: "overloaded", facts: { sent: "no", retryAfterMs: 1_000 } });
    for (let index = 0; index < 5; index++) {
      begun[index]?.end();
      await clock.advance(0);
    }
    expect((await Promise.all(all.slice(0, 5))).every(({ events }) => events[0] === PONG)).toBe(true);
    expect([state(), clock.waiting]).toEqual([{ running: 0, waiting: 0 }, 0]);
    expect(depths()).toEqual([1, 2, 3, 2, 1, 0]);
  });

  it("a call that fails, or throws at once, frees its slot", async () => {
    const { layer, state, handler, begun } = narrow();
    const broken = layer(() => {
      throw new AgentError("internal", "broken");
    });
    await collect(broken(send(), startCall()));
    expect(state().running).toBe(0);
    const first = collect(handler(send(), startCall()));
    begun[0]?.fail(new AgentError("unavailable", "gone"));
    await first;
    expect(state().running).toBe(0);
  });

  it("the wait ends with the limit, the deadline or the cancel, and leaves no timer", async () => {
    const { clock, handler, state, begun } = narrow();
    handler(send(), startCall());
    const cancel = new CancelSource();
    const waits = [
      collect(handler(send(), startCall())),
      collect(handler(send(), startCall({ deadline: 500 }))),
      collect(handler(send(), startCall({ cancel }))),
    ];
    const enough = new AgentError("cancelled", "enough");
    cancel.cancel(enough);
    expect((await waits[2])?.thrown).toBe(enough);
    await clock.advance(500);
    expect((await waits[1])?.thrown).toMatchObject({ code: "deadline", facts: { sent: "no" } });
    expect(state().waiting).toBe(1);
    await clock.advance(500);
    expect((await waits[0])?.thrown).toMatchObject({ code: "overloaded", facts: { sent: "no" } });
    expect([begun.length, state(), clock.waiting]).toEqual([1, { running: 1, waiting: 0 }, 0]);
    begun[0]?.end();
  });

  it("a call that got its slot has left the queue, whatever its outcome", async () => {
    const { handler, begun, depths, clock } = narrow();
    const cancel = new CancelSource();
    const first = collect(handler(send(), startCall()));
    const second = collect(handler(send(), startCall({ cancel })));
    begun[0]?.end();
    await first;
    cancel.cancel(new AgentError("cancelled", "enough"));
    begun[1]?.end();
    expect(await second).toEqual({ events: [PONG] }); // the peer heard nothing of it
    expect([depths(), clock.waiting]).toEqual([[1, 0], 0]);
  });

  it("an expired or cancelled call is not queued", async () => {
    const { clock, handler, state } = narrow();
    handler(send(), startCall());
    expect((await collect(handler(send(), startCall({ deadline: 0 })))).thrown).toMatchObject({ code: "deadline" });
    const cancel = new CancelSource();
    cancel.cancel(new AgentError("cancelled", "gone"));
    expect((await collect(handler(send(), startCall({ cancel })))).thrown).toMatchObject({ code: "cancelled" });
    expect([state().waiting, clock.waiting]).toEqual([0, 0]);
  });
});

describe("bulkhead, order", () => {
  async function order(clock: ReturnType<typeof fakeClock>, begun: readonly { end(): void }[], count: number) {
    for (let index = 0; index < count; index++) {
      begun[index]?.end();
      await clock.advance(0);
    }
  }

  it("higher priority first, then arrival; the wire cannot buy more than the highest", async () => {
    const { clock, handler, begun } = narrow({ waiting: 10 });
    for (const priority of [0, 0, 2, -1, 10, 1e9, 2]) void collect(handler(send({ priority }), startCall()));
    await order(clock, begun, 7);
    expect(priorities(begun)).toEqual([0, 10, 1e9, 2, 2, 0, -1]);
  });

  it("one level of priority equals a time of waiting: no call starves", async () => {
    const { clock, handler, begun } = narrow({ waiting: 10 });
    for (const priority of [0, -1]) void collect(handler(send({ priority }), startCall()));
    await clock.advance(101); // of 100 per level
    void collect(handler(send({ priority: 0 }), startCall()));
    void collect(handler(send({ priority: 1 }), startCall()));
    await order(clock, begun, 4);
    expect(priorities(begun)).toEqual([0, 1, -1, 0]);
  });

  it("cancel, get and ping never wait for sends", async () => {
    const { clock, handler, begun, state } = narrow();
    for (let index = 0; index < 4; index++) void collect(handler(send({ priority: 10 }), startCall()));
    const urgent: readonly Operation[] = [{ kind: "task.cancel", taskId: "t" }, { kind: "task.get", taskId: "t" }, PING];
    for (const [index, operation] of urgent.entries()) {
      const reply = collect(handler(operation, startCall()));
      expect(begun.at(-1)?.operation).toBe(operation);
      begun.at(-1)?.end();
      expect(await reply).toEqual({ events: [PONG] });
      expect([index, state()]).toEqual([index, { running: 1, waiting: 3 }]);
    }
    await order(clock, begun, 1);
  });
});

describe("bulkhead, streams", () => {
  it("a stream holds its slot until it ends, and a queued one starts when a slot is free", async () => {
    const { layer, state } = narrow();
    const handler = layer(() => streamOf(working, completed));
    const first = iterate(handler(streamed(), startCall()));
    const second = collect(handler(streamed(), startCall()));
    await first.next();
    expect(state()).toEqual({ running: 1, waiting: 1 });
    await first.next();
    await first.next();
    expect(await second).toEqual({ events: [working, completed] });
    expect(state()).toEqual({ running: 0, waiting: 0 });
  });

  it("a reader that leaves frees its slot, or its place in the queue", async () => {
    const { layer, state, clock } = narrow();
    const handler = layer(() => streamOf(working, completed));
    const first = iterate(handler(streamed(), startCall()));
    const second = iterate(handler(streamed(), startCall()));
    const waiting = second.next();
    await second.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect([state(), clock.waiting]).toEqual([{ running: 1, waiting: 0 }, 0]);
    await first.return?.();
    expect(state().running).toBe(0);
  });

  it("a cancelled reader that never pulls again does not keep its slot", () => {
    const { layer, state } = narrow();
    const cancel = new CancelSource();
    layer(() => streamOf(working))(streamed(), startCall({ cancel }));
    cancel.cancel(new AgentError("cancelled", "gone"));
    expect(state().running).toBe(0);
  });

  it("a refusal reaches the reader of a stream at its first pull, and then the stream is over", async () => {
    const { layer } = narrow({ waiting: 0 });
    const handler = layer(() => streamOf(working));
    handler(streamed(), startCall());
    const refused = iterate(handler(streamed(), startCall()));
    await expect(refused.next()).rejects.toMatchObject({ code: "overloaded" });
    expect(await refused.next()).toEqual({ done: true, value: undefined });
  });

  it("a send with delivery accepted frees its slot when it is accepted", async () => {
    const { layer, state } = narrow();
    const accepted = send({}, { delivery: "accepted" });
    const events: AsyncIterable<AgentEvent> = streamOf(working, completed);
    const stream = iterate(layer((): Reply => events)(accepted, startCall()));
    expect(state().running).toBe(1);
    await stream.next();
    expect(state().running).toBe(0);
    await stream.next();
    await stream.next();
    expect(state().running).toBe(0);
  });

  it("a stream instead of one answer, after the wait: an internal error, and no slot is lost", async () => {
    const { layer, state, handler, begun } = narrow();
    const first = collect(handler(send(), startCall()));
    const second = collect(layer(() => streamOf(working))(send(), startCall()));
    begun[0]?.end();
    await first;
    expect((await second).thrown).toMatchObject({ code: "internal" });
    expect(state().running).toBe(0);
  });
});
