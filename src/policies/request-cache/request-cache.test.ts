import { describe, expect, it } from "vitest";
import { fakeClock } from "../../../test/helpers/clock.js";
import { collect, completed, iterate, openReply, PING, place, send, streamOf, working } from "../../../test/helpers/policies.js";
import {
  AgentError,
  type AgentEvent,
  type Call,
  CancelSource,
  type Handler,
  type Operation,
  type Principal,
  type Reply,
  SELF,
  startCall,
  textPart,
} from "../../envelope/index.js";
import { type RequestCacheOptions, requestCache } from "./request-cache.js";

const key = { idempotencyKey: "k" };
const asked = send(key);
const streamed = send(key, { delivery: "stream" });
const other: Principal = { ...SELF, id: "other", owner: "key:other" };

/** A cache over a peer that remembers what it was asked, and by which call. */
function cached(peer: Handler, change: Partial<RequestCacheOptions> = {}) {
  const clock = fakeClock();
  const { heard, ...at } = place();
  const calls: Call[] = [];
  const layer = requestCache({
    ...at,
    clock,
    keepMs: 1_000,
    digest: async (agent, content) => JSON.stringify([agent, content]),
    ...change,
  });
  const handler = layer((operation, call) => {
    calls.push(call);
    return peer(operation, call);
  });
  const from = () => heard.flatMap((note) => (note.kind === "repeat" ? [note.from] : []));
  return { clock, calls, from, ask: (operation: Operation = asked, call = startCall()): Reply => handler(operation, call) };
}
/** A new answer each time, so that a second run would be seen. */
function counting(): Handler {
  let runs = 0;
  return () => Promise.resolve({ ...working, taskId: `t${++runs}` } as AgentEvent);
}
const settled = (clock: ReturnType<typeof fakeClock>) => clock.advance(0);

describe("requestCache, one answer", () => {
  it("joins requests in flight, and answers repeated ones from the cache", async () => {
    const { reply, answer } = openReply();
    const { ask, calls, from, clock } = cached(() => reply);
    const two = [collect(ask()), collect(ask())];
    await settled(clock);
    answer(completed);
    expect(await Promise.all(two)).toEqual(Array(2).fill({ events: [completed] }));
    expect(await collect(ask())).toEqual({ events: [completed] });
    expect([calls.length, from(), clock.waiting]).toEqual([1, ["under-way", "cache"], 0]);
  });

  it("keeps an answer for a limited time, and a limited number of them", async () => {
    const { ask, calls, clock } = cached(counting(), { entries: 4 });
    const first = await collect(ask());
    await clock.advance(999);
    expect(await collect(ask())).toEqual(first);
    await clock.advance(1);
    expect(await collect(ask())).not.toEqual(first);
    for (let index = 0; index < 8; index++) await collect(ask(send({ idempotencyKey: `other ${index}` })));
    await collect(ask());
    expect(calls).toHaveLength(1 + 1 + 8 + 1);
  });

  it.each([
    { what: "other content", again: send(key, { content: "stop" }) },
    { what: "another delivery", again: streamed },
    { what: "another task", again: send({ ...key, taskId: "t" }) },
  ])("the same key with $what is a conflict, before and after the answer", async ({ again }) => {
    const { reply, answer } = openReply();
    const { ask, calls, clock } = cached(() => reply);
    const first = collect(ask());
    const conflict = { code: "conflict", facts: { sent: "no", field: "context.idempotencyKey" } };
    expect((await collect(ask(again))).thrown).toMatchObject(conflict);
    answer(completed);
    await first;
    expect((await collect(ask(again))).thrown).toMatchObject(conflict);
    expect([calls.length, clock.waiting]).toEqual([1, 0]);
  });

  it("never mixes owners or agents", async () => {
    const { ask, calls } = cached(counting());
    const results = [
      await collect(ask()),
      await collect(ask(asked, startCall({ caller: other }))),
      await collect(ask(asked, startCall({ agent: "b" }))),
    ];
    expect(new Set(results.map(({ events }) => JSON.stringify(events))).size).toBe(3);
    expect(calls).toHaveLength(3);
  });

  it("never gives a call an answer that came with less protection than it requires", async () => {
    const { ask, calls } = cached(counting());
    const secured = startCall({ floor: { encrypted: true, signed: false, endToEnd: false, identity: false } });
    const [plain, required] = [await collect(ask()), await collect(ask(asked, secured))];
    expect(required).not.toEqual(plain);
    expect(calls.map(({ floor }) => floor.encrypted)).toEqual([false, true]);
  });

  it("errors are not cached, and all joined readers get them", async () => {
    const gone = new AgentError("unavailable", "gone");
    let failed = false;
    const { ask, calls } = cached(() => {
      const reply = failed ? Promise.resolve(completed) : Promise.reject(gone);
      failed = true;
      return reply;
    });
    expect(await Promise.all([collect(ask()), collect(ask())])).toEqual(Array(2).fill({ events: [], thrown: gone }));
    expect(await collect(ask())).toEqual({ events: [completed] });
    expect(calls).toHaveLength(2);
  });

  it("passes requests without a key, other operations, and resumed streams", async () => {
    const { ask, calls } = cached(counting());
    const taken = { ...streamed, after: "5" as NonNullable<typeof streamed.after> }; // the peer's own mark
    for (const operation of [send(), PING, taken]) {
      await collect(ask(operation));
      await collect(ask(operation));
    }
    expect(calls).toHaveLength(6);
  });

  it("a leaving reader ends only its own wait; the call ends with the last reader", async () => {
    const { reply } = openReply();
    const { ask, calls, clock } = cached(() => reply);
    const [first, second] = [new CancelSource(), new CancelSource()];
    const one = collect(ask(asked, startCall({ cancel: first })));
    const two = collect(ask(asked, startCall({ cancel: second })));
    const three = collect(ask(asked, startCall({ deadline: 100 })));
    await settled(clock);
    const enough = new AgentError("cancelled", "enough");
    first.cancel(enough);
    expect((await one).thrown).toBe(enough);
    await clock.advance(100);
    expect((await three).thrown).toMatchObject({ code: "deadline" });
    expect(calls[0]?.cancel.cancelled).toBe(false);
    second.cancel(enough);
    await two;
    expect(calls[0]?.cancel.cancelled).toBe(true);
    expect(clock.waiting).toBe(0);
    void collect(ask());
    await settled(clock);
    expect(calls).toHaveLength(2); // what was left by all is not under way any more
  });

  it("refuses more at the same time than it can watch", async () => {
    const { ask, clock } = cached(() => new Promise(() => undefined), { underWay: 1 });
    void collect(ask());
    await settled(clock);
    const { thrown } = await collect(ask(send({ idempotencyKey: "second" })));
    expect(thrown).toMatchObject({ code: "overloaded", facts: { sent: "no", retryAfterMs: 1_000 } });
  });

  it("an answer too long to cache is rejected for the second reader, or requested from a peer that deduplicates", async () => {
    const long: AgentEvent = {
      kind: "artifact",
      taskId: "t",
      contextId: "c",
      append: false,
      last: true,
      artifact: { id: "a", parts: [textPart("x".repeat(11))] },
    };
    const { ask, calls } = cached(() => Promise.resolve(long), { bytesPerEntry: 10 });
    expect(await collect(ask())).toEqual({ events: [long] });
    expect((await collect(ask())).thrown).toMatchObject({ code: "conflict" });
    expect(calls).toHaveLength(1);
    const trusting = cached(() => Promise.resolve(long), { bytesPerEntry: 10, idempotentSend: () => true });
    await collect(trusting.ask());
    expect(await collect(trusting.ask())).toEqual({ events: [long] });
    expect(trusting.calls).toHaveLength(2);
  });
});

describe("requestCache, streams", () => {
  const status = (at: number): AgentEvent => ({ kind: "status", taskId: "t", contextId: "c", status: { state: "working", at } });

  it("a second reader gets everything from the beginning, at its own pace, also after the end", async () => {
    const { ask, calls, from } = cached(() => streamOf(status(1), status(2), completed));
    const slow = iterate(ask(streamed));
    expect((await slow.next()).value).toEqual(status(1));
    const want = { events: [status(1), status(2), completed] };
    expect(await collect(ask(streamed))).toEqual(want);
    expect((await slow.next()).value).toEqual(status(2));
    expect((await slow.next()).value).toBe(completed);
    expect((await slow.next()).done).toBe(true);
    expect(await collect(ask(streamed))).toEqual(want);
    expect([calls.length, from()]).toEqual([1, ["under-way", "cache"]]);
  });

  it("pulls only when a reader has read everything cached", async () => {
    let pulled = 0;
    const { ask } = cached(async function* () {
      for (;;) {
        pulled++;
        yield status(pulled);
      }
    });
    const [one, two] = [iterate(ask(streamed)), iterate(ask(streamed))];
    await Promise.all([one.next(), two.next()]);
    expect(pulled).toBe(1);
    await Promise.all([one.next(), one.next()]);
    expect(pulled).toBe(3);
    await Promise.all([one.return?.(), two.return?.()]);
  });

  it("beyond the limit the first reader continues, joined ones are cut off, and no more can join", async () => {
    const events = Array.from({ length: 6 }, (_, index) => status(index));
    const { ask, calls } = cached(() => streamOf(...events, completed), { eventsPerEntry: 2 });
    const first = iterate(ask(streamed));
    const second = ask(streamed);
    for (let index = 0; index < 3; index++) expect((await first.next()).value).toEqual(events[index]);
    const joined = await collect(second);
    expect(joined.events).toEqual(events.slice(0, 3));
    expect(joined.thrown).toMatchObject({ code: "interrupted" });
    expect((await collect(ask(streamed))).thrown).toMatchObject({ code: "conflict" });
    for (let index = 3; index < 6; index++) expect((await first.next()).value).toEqual(events[index]);
    expect((await first.next()).value).toBe(completed);
    expect((await first.next()).done).toBe(true);
    expect((await collect(ask(streamed))).thrown).toMatchObject({ code: "conflict" });
    expect(calls).toHaveLength(1);
  });

  it("the successor of a first reader that left beyond the limit is cut off, without a gap", async () => {
    const events = Array.from({ length: 6 }, (_, index) => status(index));
    const { ask } = cached(() => streamOf(...events, completed), { eventsPerEntry: 2 });
    const first = iterate(ask(streamed));
    const second = iterate(ask(streamed));
    await second.next();
    for (let index = 0; index < 5; index++) await first.next();
    await first.return?.();
    expect((await second.next()).value).toEqual(events[1]);
    expect((await second.next()).value).toEqual(events[2]);
    await expect(second.next()).rejects.toMatchObject({ code: "interrupted" });
  });

  it("joined readers continue when the first leaves; the source stops with the last", async () => {
    let stopped = 0;
    const { ask, calls } = cached(async function* () {
      try {
        yield status(1);
        yield status(2);
        yield completed;
      } finally {
        stopped++;
      }
    });
    const first = iterate(ask(streamed));
    await first.next();
    const second = iterate(ask(streamed));
    await second.next();
    await first.return?.();
    expect((await second.next()).value).toEqual(status(2));
    await second.return?.();
    expect([stopped, calls[0]?.cancel.cancelled]).toEqual([1, true]);
    await iterate(ask(streamed)).next();
    expect(calls).toHaveLength(2);
  });

  it("a reader that leaves after the closing event leaves a complete answer", async () => {
    const { ask, calls } = cached(() => streamOf(status(1), completed));
    const first = iterate(ask(streamed));
    await first.next();
    await first.next();
    await first.return?.();
    expect(await collect(ask(streamed))).toEqual({ events: [status(1), completed] });
    expect(calls).toHaveLength(1);
  });

  it("a reader that leaves before its first pull starts nothing", async () => {
    const { ask, calls, clock } = cached(counting());
    const stream = iterate(ask(streamed));
    await stream.return?.();
    await settled(clock);
    expect([calls.length, await stream.next()]).toEqual([0, { done: true, value: undefined }]);
  });
});
