import { describe, expect, it } from "vitest";
import { fakeClock } from "../../../test/helpers/clock.js";
import {
  AgentError,
  type AgentEvent,
  type Call,
  CancelSource,
  type Handler,
  newEnvelope,
  type Operation,
  startCall,
} from "../../envelope/index.js";
import type { PolicyNote } from "../notes.js";
import { type HedgeOptions, hedge } from "./hedge.js";

const PING: Operation = { kind: "ping" };
const SUBSCRIBE: Operation = { kind: "task.subscribe", taskId: "t", follow: true };
const broken = new AgentError("unavailable", "gone", { sent: "maybe" });

function send(context: { idempotencyKey?: string; taskId?: string }, delivery: "answer" | "stream" = "stream"): Operation {
  const envelope = newEnvelope({ content: "go", src: "a", dst: "b", context }, { now: () => 1, newId: () => "m" });
  return { kind: "send", envelope, delivery, task: "auto" };
}
const KEYED = send({ idempotencyKey: "k" });

const told = (taskId: string, text: string): AgentEvent => ({
  kind: "status",
  taskId,
  contextId: "c",
  status: { state: text === "end" ? "completed" : "working", at: 1 },
  metadata: { text },
});
const textOf = (event: AgentEvent): unknown => (event.kind === "status" ? event.metadata?.["text"] : event.kind);

/** A cancel that shows how many listen. */
class CountedCancel extends CancelSource {
  listening = 0;
  override onCancel(run: (reason: AgentError) => void): () => void {
    const forget = super.onCancel(run);
    this.listening++;
    return () => {
      this.listening--;
      forget();
    };
  }
}

/** One attempt under the test's hand: a promise, and a stream fed by hand. */
class Attempt {
  readonly operation: Operation;
  readonly call: Call;
  stopped = false;
  resolve: (event: AgentEvent) => void = () => undefined;
  reject: (error: AgentError) => void = () => undefined;
  readonly one = new Promise<AgentEvent>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });
  #waiting: ((step: IteratorResult<AgentEvent>) => void)[] = [];
  #ready: IteratorResult<AgentEvent>[] = [];
  readonly many: AsyncIterable<AgentEvent> = {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        const ready = this.#ready.shift();
        return ready === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(ready);
      },
      return: async () => {
        this.stopped = true;
        return { done: true, value: undefined };
      },
    }),
  };

  constructor(operation: Operation, call: Call) {
    this.operation = operation;
    this.call = call;
  }

  give(step: IteratorResult<AgentEvent>): void {
    const waiting = this.#waiting.shift();
    if (waiting === undefined) this.#ready.push(step);
    else waiting(step);
  }
  tell(event: AgentEvent): void {
    this.give({ done: false, value: event });
  }
}

function setUp(rules: Partial<HedgeOptions> = {}, shape: "one" | "many" = "one") {
  const clock = fakeClock();
  const attempts: Attempt[] = [];
  const notes: PolicyNote[] = [];
  const cancels: Operation[] = [];
  let answerCancel: Handler = async () => ({ kind: "done" });
  const handler: Handler = (operation, call) => {
    if (operation.kind === "task.cancel") {
      cancels.push(operation);
      return answerCancel(operation, call);
    }
    const attempt = new Attempt(operation, call);
    attempts.push(attempt);
    return shape === "one" ? attempt.one : attempt.many;
  };
  const layer = hedge({
    afterMs: 100,
    destination: "b",
    clock,
    notes: (note) => notes.push(note),
    idempotentSend: () => true,
    ...rules,
  });
  const cancel = new CountedCancel();
  const run = (operation: Operation, deadline?: number) => layer(handler)(operation, startCall({ cancel, deadline }));
  return {
    clock,
    attempts,
    notes,
    cancels,
    cancel,
    one: (operation: Operation, deadline?: number) => run(operation, deadline) as Promise<AgentEvent>,
    many: (operation: Operation) => (run(operation) as AsyncIterable<AgentEvent>)[Symbol.asyncIterator](),
    outcomes: () => notes.map((note) => (note.kind === "hedge" ? note.outcome : note.kind)),
    onCancel: (answer: Handler) => (answerCancel = answer),
    at: (index: number) => attempts[index] ?? expect.fail(`there was no attempt ${index}`),
    /** Nothing is left behind. */
    clean: () => ({ timers: clock.waiting, listeners: cancel.listening }),
  };
}
const CLEAN = { timers: 0, listeners: 0 };

describe("hedge, one event", () => {
  it("leaves a call alone that is answered in time", async () => {
    const test = setUp();
    const reply = test.one(PING);
    await test.clock.advance(99);
    test.at(0).resolve({ kind: "done" });
    expect(await reply).toEqual({ kind: "done" });
    expect([test.attempts.length, test.outcomes(), test.clean()]).toEqual([1, [], CLEAN]);
  });

  it("returns the first answer, and cancels the other attempt", async () => {
    const test = setUp();
    const reply = test.one(PING);
    await test.clock.advance(100);
    test.at(1).resolve({ kind: "done", head: { from: "second" } });
    expect(await reply).toMatchObject({ head: { from: "second" } });
    expect(test.at(0).call.cancel.reason).toMatchObject({ code: "cancelled", message: "another attempt answered first" });
    expect(test.at(1).call.cancel.cancelled).toBe(false);
    expect([test.outcomes(), test.clean()]).toEqual([["fired", "won"], CLEAN]);
  });

  it("reports that the second attempt was not needed", async () => {
    const test = setUp();
    const reply = test.one(PING);
    await test.clock.advance(100);
    test.at(0).resolve({ kind: "done" });
    await reply;
    expect(test.at(1).call.cancel.cancelled).toBe(true);
    expect([test.outcomes(), test.clean()]).toEqual([["fired", "lost"], CLEAN]);
  });

  it("a failure does not win; if both fail, the first error is thrown", async () => {
    const test = setUp();
    const won = test.one(PING);
    await test.clock.advance(100);
    test.at(0).reject(broken);
    test.at(1).resolve({ kind: "done" });
    expect(await won).toEqual({ kind: "done" });
    const lost = test.one(PING).catch((thrown: unknown) => thrown);
    await test.clock.advance(100);
    test.at(3).reject(new AgentError("deadline", "late"));
    test.at(2).reject(broken);
    expect(await lost).toBe(broken);
    expect(test.clean()).toEqual(CLEAN);
  });

  it("a failure before its time is a failure: to try again is another layer's affair", async () => {
    const test = setUp();
    const reply = test.one(PING).catch((thrown: unknown) => thrown);
    test.at(0).reject(broken);
    expect(await reply).toBe(broken);
    expect([test.attempts.length, test.clean()]).toEqual([1, CLEAN]);
  });

  it("a cancel by the caller takes effect at once, in both attempts", async () => {
    const test = setUp();
    const reply = test.one(PING).catch((thrown: unknown) => thrown);
    await test.clock.advance(100);
    const reason = new AgentError("cancelled", "enough");
    test.cancel.cancel(reason);
    expect(await reply).toBe(reason);
    expect(test.attempts.map(({ call }) => call.cancel.reason)).toEqual([reason, reason]);
    expect(test.clock.waiting).toBe(0);
  });

  it("starts no attempt at or after the deadline, which applies to both", async () => {
    const test = setUp();
    const late = test.one(PING, 100);
    await test.clock.advance(100);
    expect(test.attempts).toHaveLength(1);
    test.at(0).resolve({ kind: "done" });
    await late;
    const reply = test.one(PING, 201 + 100);
    await test.clock.advance(100);
    expect(test.attempts.slice(1).map(({ call }) => call.deadline)).toEqual([301, 301]);
    test.at(1).resolve({ kind: "done" });
    await reply;
  });
});

describe("hedge, safe operations", () => {
  it.each([
    ["task.get", { kind: "task.get", taskId: "t" }, false, 2],
    ["task.subscribe", SUBSCRIBE, false, 2],
    ["a message with a key, to a peer that honours it", send({ idempotencyKey: "k" }, "answer"), true, 2],
    ["a message with a key, to a peer that does not", send({ idempotencyKey: "k" }, "answer"), false, 1],
    ["a message without a key", send({}, "answer"), true, 1],
    ["session.close", { kind: "session.close", sessionId: "s" }, true, 1],
    ["push.set", { kind: "push.set", config: { taskId: "t", id: "p", url: "https://a.example" } }, true, 1],
  ] as const)("%s", async (_name, operation, idempotent, attempts) => {
    const test = setUp({ idempotentSend: () => idempotent });
    const reply = test.one(operation as Operation);
    if (operation.kind === "task.subscribe") void (reply as unknown as AsyncIterator<AgentEvent>).next();
    await test.clock.advance(100);
    expect(test.attempts).toHaveLength(attempts);
  });

  it("is limited to the share of calls plus the saved burst, and to a number in flight", async () => {
    const test = setUp({ share: 0.1, maxInFlight: 3 });
    for (let n = 0; n < 5; n++) void test.one(PING);
    await test.clock.advance(100);
    expect(test.attempts).toHaveLength(5 + 3);
    for (const attempt of test.attempts) attempt.resolve({ kind: "done" });
    const before = test.attempts.length;
    for (let n = 0; n < 200; n++) {
      const reply = test.one(PING);
      const index = test.attempts.length - 1;
      await test.clock.advance(100);
      test.at(index).resolve({ kind: "done" });
      await reply;
    }
    const hedged = test.attempts.length - before - 200;
    expect(hedged).toBeGreaterThanOrEqual(20);
    expect(hedged).toBeLessThanOrEqual(20 + 10);
  });

  it("waits as long as most answers took, once it has seen enough", async () => {
    const test = setUp({ afterMs: { percentile: 0.95, untilKnownMs: 1_000 } });
    for (let n = 1; n <= 20; n++) {
      const reply = test.one(PING);
      await test.clock.advance(n);
      test.at(test.attempts.length - 1).resolve({ kind: "done" });
      await reply;
    }
    void test.one(PING);
    await test.clock.advance(18);
    expect(test.attempts).toHaveLength(21);
    await test.clock.advance(1); // the 19th of 20 took 19 ms: nearest rank of 0.95
    expect(test.attempts).toHaveLength(22);
    expect(test.notes).toMatchObject([{ kind: "hedge", outcome: "fired", afterMs: 19 }]);
  });
});

describe("hedge, streams", () => {
  it("all events come from the first to deliver: none from the other, none twice", async () => {
    const test = setUp({}, "many");
    const reader = test.many(SUBSCRIBE);
    const first = reader.next();
    await test.clock.advance(100);
    test.at(1).tell(told("t", "one"));
    test.at(0).tell(told("t", "one"));
    const seen = [(await first).value];
    test.at(0).tell(told("t", "two"));
    test.at(1).tell(told("t", "two"));
    test.at(1).tell(told("t", "end"));
    test.at(1).give({ done: true, value: undefined });
    for (let step = await reader.next(); step.done !== true; step = await reader.next()) seen.push(step.value);
    expect(seen.map(textOf)).toEqual(["one", "two", "end"]);
    expect([test.at(0).stopped, test.at(0).call.cancel.cancelled, test.clean()]).toEqual([true, true, CLEAN]);
    expect(test.cancels).toEqual([]); // a subscription makes no task
  });

  it("cancels the task that the loser made, not only its connection", async () => {
    const test = setUp({}, "many");
    const reader = test.many(KEYED);
    const first = reader.next();
    await test.clock.advance(100);
    test.at(0).tell(told("t-1", "one"));
    await first;
    expect(test.at(1).stopped).toBe(false);
    test.at(1).tell(told("t-2", "one"));
    await test.clock.advance(0);
    expect(test.cancels).toEqual([{ kind: "task.cancel", taskId: "t-2" }]);
    expect([test.at(1).stopped, test.at(1).call.cancel.cancelled, test.clock.waiting]).toEqual([true, true, 0]);
    expect(test.outcomes()).toEqual(["fired", "lost"]);
  });

  it("leaves the task alone that both have: one key, one task", async () => {
    const test = setUp({}, "many");
    const first = test.many(KEYED).next();
    await test.clock.advance(100);
    test.at(0).tell(told("t-1", "one"));
    test.at(1).tell(told("t-1", "one"));
    await first;
    await test.clock.advance(0);
    expect([test.cancels, test.at(1).stopped]).toEqual([[], true]);
  });

  it.each<[string, Handler]>([
    ["fails", async () => Promise.reject(broken)],
    ["hangs", () => new Promise(() => undefined)],
  ])("a cancel that %s is reported, not thrown, and ends in time", async (_how, answer) => {
    const test = setUp({ callOffMs: 500 }, "many");
    test.onCancel(answer);
    const first = test.many(KEYED).next();
    await test.clock.advance(100);
    test.at(1).tell(told("t-2", "one"));
    await first;
    test.at(0).tell(told("t-1", "one"));
    await test.clock.advance(500);
    expect(test.outcomes()).toEqual(["fired", "won", "stray"]);
    expect([test.at(0).stopped, test.clock.waiting]).toEqual([true, 0]);
  });

  it("does not wait forever for a silent loser", async () => {
    const test = setUp({ callOffMs: 500 }, "many");
    const first = test.many(KEYED).next();
    await test.clock.advance(100);
    test.at(1).tell(told("t-2", "one"));
    await first;
    await test.clock.advance(500);
    expect([test.at(0).stopped, test.clock.waiting, test.outcomes().at(-1)]).toEqual([true, 0, "stray"]);
  });

  it("a reader that leaves before anything came ends both, and its pull", async () => {
    const test = setUp({}, "many");
    const reader = test.many(SUBSCRIBE);
    const pull = reader.next();
    await test.clock.advance(100);
    await reader.return?.();
    expect(await pull).toEqual({ done: true, value: undefined });
    expect(test.attempts.map(({ stopped, call }) => [stopped, call.cancel.cancelled])).toEqual([
      [true, true],
      [true, true],
    ]);
    expect(test.clean()).toEqual(CLEAN);
  });

  it("a caller that cancels before the first pull gets the error there", async () => {
    const test = setUp({}, "many");
    const reader = test.many(SUBSCRIBE);
    const reason = new AgentError("cancelled", "enough");
    test.cancel.cancel(reason);
    await expect(reader.next()).rejects.toBe(reason);
    expect(await reader.next()).toEqual({ done: true, value: undefined });
  });

  it("after the first event the caller's cancel goes to the delivering attempt", async () => {
    const test = setUp({}, "many");
    const reader = test.many(SUBSCRIBE);
    const first = reader.next();
    test.at(0).tell(told("t", "one"));
    await first;
    test.cancel.cancel(new AgentError("cancelled", "enough"));
    expect(test.at(0).call.cancel.reason).toMatchObject({ message: "enough" });
    expect(test.clock.waiting).toBe(0);
  });
});
