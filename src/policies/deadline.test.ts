import { describe, expect, test } from "vitest";
import { fakeClock } from "../../test/helpers/clock.js";
import {
  AgentError,
  type AgentEvent,
  type Call,
  CancelSource,
  type Handler,
  type Operation,
  type Reply,
  startCall,
} from "../envelope/index.js";
import { systemClock } from "./clock.js";
import { deadline } from "./deadline.js";

const PING: Operation = { kind: "ping" };
const DONE: AgentEvent = { kind: "done" };
const working: AgentEvent = { kind: "status", taskId: "t", contextId: "c", status: { state: "working", at: 1 } };

function asStream(reply: Reply): AsyncIterator<AgentEvent> {
  return (reply as AsyncIterable<AgentEvent>)[Symbol.asyncIterator](); // the handler of the test answers with a stream
}

/** Never answers, and remembers its call. */
function hanging(): { readonly handler: Handler; call(): Call } {
  let seen: Call | undefined;
  return {
    handler: (_operation, call) => {
      seen = call;
      return new Promise(() => undefined);
    },
    call: () => seen ?? startCall(),
  };
}

describe("deadline, one event", () => {
  test("an answer in time passes, and leaves no timer and no listener", async () => {
    const clock = fakeClock();
    const above = new CancelSource();
    let below: Call | undefined;
    const handler: Handler = async (_operation, call) => {
      below = call;
      return DONE;
    };
    expect(await deadline(100, clock)(handler)(PING, startCall({ cancel: above }))).toBe(DONE);
    expect(clock.waiting).toBe(0);
    above.cancel(new AgentError("cancelled", "later"));
    expect(below?.cancel.cancelled).toBe(false);
  });

  test("does not wait for a handler that ignores its cancel", async () => {
    const clock = fakeClock(1_000);
    const { handler, call } = hanging();
    const reply = deadline(100, clock)(handler)(PING, startCall()) as Promise<AgentEvent>; // `hanging` answers with a promise
    const failure = reply.catch((thrown: unknown) => thrown);
    await clock.advance(100);
    expect(await failure).toMatchObject({
      code: "deadline",
      message: "no complete answer within 100 ms",
      facts: { sent: "maybe" },
    });
    expect(call().cancel.reason).toMatchObject({ code: "deadline" });
    expect(call().deadline).toBe(1_100);
  });

  test("races in real time too", async () => {
    const startedMs = performance.now();
    await expect(deadline(20, systemClock)(hanging().handler)(PING, startCall())).rejects.toMatchObject({ code: "deadline" });
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });

  test("uses the call's own deadline if it is earlier", async () => {
    const clock = fakeClock(1_000);
    const failure = (deadline(500, clock)(hanging().handler)(PING, startCall({ deadline: 1_040 })) as Promise<AgentEvent>).catch(
      (thrown: unknown) => thrown,
    );
    await clock.advance(40);
    expect(await failure).toMatchObject({ code: "deadline", message: "no complete answer within 40 ms" });
  });

  test("a deadline that has passed sends nothing", async () => {
    let called = 0;
    const reply = deadline(
      500,
      fakeClock(1_000),
    )(async () => {
      called++;
      return DONE;
    })(PING, startCall({ deadline: 1_000 }));
    await expect(reply).rejects.toMatchObject({ code: "deadline", facts: { sent: "no" } });
    expect(called).toBe(0);
  });

  test("a cancel by the caller takes effect at once, here and in inner layers", async () => {
    const above = new CancelSource();
    const { handler, call } = hanging();
    const failure = (deadline(500, fakeClock())(handler)(PING, startCall({ cancel: above })) as Promise<AgentEvent>).catch(
      (thrown: unknown) => thrown,
    );
    const reason = new AgentError("cancelled", "enough");
    above.cancel(reason);
    expect(await failure).toBe(reason);
    expect(call().cancel.reason).toBe(reason);
  });

  test("a failure after the deadline is ignored", async () => {
    const clock = fakeClock();
    let failLate = (_thrown: unknown): void => undefined;
    const handler: Handler = () => new Promise((_resolve, reject) => (failLate = reject));
    const failure = (deadline(10, clock)(handler)(PING, startCall()) as Promise<AgentEvent>).catch((thrown: unknown) => thrown);
    await clock.advance(10);
    failLate(new Error("too late")); // an unhandled rejection would fail the run
    expect(await failure).toMatchObject({ code: "deadline" });
  });
});

describe("deadline, many events", () => {
  test("limits the whole answer: a pending pull fails, and the source is stopped", async () => {
    const clock = fakeClock();
    let stopped = 0;
    const source: AsyncIterable<AgentEvent> = {
      [Symbol.asyncIterator]: () => {
        let first = true;
        return {
          next: () => {
            if (!first) return new Promise(() => undefined);
            first = false;
            return Promise.resolve({ done: false, value: working });
          },
          return: async () => {
            stopped++;
            return { done: true, value: undefined };
          },
        };
      },
    };
    const stream = asStream(deadline(100, clock)(() => source)(PING, startCall()));
    await clock.advance(60);
    expect(await stream.next()).toEqual({ done: false, value: working });
    const failure = stream.next().catch((thrown: unknown) => thrown);
    await clock.advance(40);
    expect(await failure).toMatchObject({ code: "deadline" });
    expect(stopped).toBe(1);
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  test("a reader that was busy when time ran out learns it at its next pull", async () => {
    const clock = fakeClock();
    const handler: Handler = async function* () {
      yield working;
      yield working;
    };
    const stream = asStream(deadline(100, clock)(handler)(PING, startCall()));
    await stream.next();
    await clock.advance(100);
    await expect(stream.next()).rejects.toMatchObject({ code: "deadline" });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
  });

  test("a reader that leaves cancels the inner call and removes the timer", async () => {
    const clock = fakeClock();
    let below: Call | undefined;
    const handler: Handler = async function* (_operation, call) {
      below = call;
      yield working;
      await new Promise(() => undefined);
    };
    const stream = asStream(deadline(100, clock)(handler)(PING, startCall()));
    await stream.next();
    const waiting = stream.next();
    expect(await stream.return?.()).toEqual({ done: true, value: undefined });
    expect(await waiting).toEqual({ done: true, value: undefined });
    expect(clock.waiting).toBe(0);
    expect(below?.cancel.reason).toMatchObject({ code: "cancelled" });
  });

  test("an answer in time leaves no timer, and an error passes as it is", async () => {
    const clock = fakeClock();
    const thrown = new AgentError("interrupted", "cut");
    const handler: Handler = async function* () {
      yield working;
      throw thrown;
    };
    const stream = asStream(deadline(100, clock)(handler)(PING, startCall()));
    await stream.next();
    await expect(stream.next()).rejects.toBe(thrown);
    expect(clock.waiting).toBe(0);
  });
});
