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
  ERRORS,
  type ErrorCode,
  type Handler,
  startCall,
} from "../../envelope/index.js";
import { type CircuitBreakerOptions, circuitBreaker } from "./breaker.js";

const down = new AgentError("unavailable", "down", { sent: "no" });
const failing: Handler = () => Promise.reject(down);
const ponging: Handler = () => Promise.resolve(PONG);

/** A breaker over a peer that can be exchanged. */
function breaker(change: Partial<CircuitBreakerOptions> = {}) {
  const clock = fakeClock();
  const { heard, ...at } = place();
  const { layer, state } = circuitBreaker({ ...at, clock, minimumCalls: 4, windowMs: 1_000, openMs: 5_000, ...change });
  let peer: Handler = failing;
  let asked = 0;
  const handler = layer((operation, call) => {
    asked++;
    return peer(operation, call);
  });
  const ask = (operation = PING, call = startCall()) => handler(operation, call);
  return {
    clock,
    state,
    handler,
    ask,
    become(other: Handler) {
      peer = other;
    },
    asked: () => asked,
    changes: () => heard.flatMap((note) => (note.kind === "circuit" ? [`${note.from} > ${note.to}: ${note.because}`] : [])),
    async fail(times: number) {
      peer = failing;
      for (let index = 0; index < times; index++) await collect(ask());
    },
  };
}

describe("circuitBreaker, opening", () => {
  it("opens at the share of failures, once there are enough calls, and sends nothing then", async () => {
    const { ask, fail, become, state, asked, changes } = breaker();
    become(ponging);
    await collect(ask());
    await collect(ask());
    await fail(1);
    expect(state()).toEqual({ state: "closed", probeInMs: undefined, calls: 3, failures: 1, slow: 0 });
    await fail(1);
    expect(state()).toMatchObject({ state: "open", probeInMs: 5_000 });
    expect(changes()).toEqual(["closed > open: 2 of 4 calls failed"]);
    const { thrown } = await collect(ask());
    expect(thrown).toMatchObject({ code: "unavailable", facts: { sent: "no", retryAfterMs: 5_000 } });
    expect(asked()).toBe(4);
  });

  it("ignores calls before the window", async () => {
    const { clock, fail, state } = breaker();
    await fail(3);
    await clock.advance(1_000);
    await fail(3);
    expect(state()).toMatchObject({ state: "closed", calls: 3, failures: 3 });
  });

  it("opens for slow answers if configured, by the time to the first event", async () => {
    const { clock, ask, become, state, changes } = breaker({ slow: { ms: 300, share: 1 } });
    become(async () => {
      await clock.sleep(300);
      return PONG;
    });
    const all = Promise.all(Array.from({ length: 4 }, () => collect(ask())));
    await clock.advance(300);
    await all;
    expect(state().state).toBe("open");
    expect(changes()).toEqual(["closed > open: 4 of 4 calls took 300 ms or longer"]);
  });

  it("a stream counts when it ends: well, cut, or not at all when its reader leaves", async () => {
    const { handler, become, state } = breaker();
    const asked = send({}, { delivery: "stream" });
    become(() => streamOf(working, completed));
    const stream = iterate(handler(asked, startCall()));
    await stream.next();
    expect(state().calls).toBe(0);
    await stream.next();
    await stream.next();
    expect(state()).toMatchObject({ calls: 1, failures: 0 });
    become(() => streamOf(working, new AgentError("interrupted", "cut")));
    await collect(handler(asked, startCall()));
    expect(state()).toMatchObject({ calls: 2, failures: 1 });
    const left = iterate(handler(asked, startCall()));
    await left.next();
    await left.return?.();
    expect(state()).toMatchObject({ calls: 2, failures: 1 });
  });

  it("a task that failed is an answer", async () => {
    const { handler, become, state } = breaker();
    const failed: AgentEvent = { kind: "status", taskId: "t", contextId: "c", status: { state: "failed", at: 1 } };
    become(() => Promise.resolve(failed));
    await collect(handler(send(), startCall()));
    expect(state()).toMatchObject({ calls: 1, failures: 0 });
  });
});

const FAILURES: readonly ErrorCode[] = ["unavailable", "interrupted", "deadline", "overloaded", "internal", "bad_peer"];

describe("circuitBreaker, counted results", () => {
  it.each(Object.keys(ERRORS) as ErrorCode[])("%s", async (code) => {
    const { clock, handler, become, state } = breaker({ minimumCalls: 99, windowMs: 60_000 });
    const counts = async (sent: "no" | "maybe") => {
      const before = state();
      become(async () => {
        await clock.sleep(1_000); // the patience of a caller whose time runs out
        throw new AgentError(code, "no", { sent });
      });
      const over = collect(handler(PING, startCall()));
      await clock.advance(1_000);
      await over;
      return { calls: state().calls - before.calls, failures: state().failures - before.failures };
    };
    const fails = FAILURES.includes(code);
    expect(await counts("maybe")).toEqual(
      code === "cancelled" ? { calls: 0, failures: 0 } : { calls: 1, failures: fails ? 1 : 0 },
    );
    const unreached = code === "unavailable" || code === "interrupted";
    expect(await counts("no")).toEqual(unreached ? { calls: 1, failures: 1 } : { calls: 0, failures: 0 });
  });

  it("a call with a short deadline does not count", async () => {
    const { handler, become, state } = breaker();
    become(() => Promise.reject(new AgentError("deadline", "late", { sent: "maybe" })));
    await collect(handler(PING, startCall()));
    expect(state().calls).toBe(0);
  });
});

describe("circuitBreaker, half-open", () => {
  async function opened(change: Partial<CircuitBreakerOptions> = {}) {
    const made = breaker(change);
    await made.fail(4);
    await made.clock.advance(5_000);
    return made;
  }

  it("lets exactly one through, refuses all others meanwhile, and closes with its answer", async () => {
    const { ask, become, asked, state, changes } = await opened();
    const { reply, answer } = openReply();
    become(() => reply);
    const probe = collect(ask());
    const others = await Promise.all(Array.from({ length: 20 }, () => collect(ask())));
    expect(others.map(({ thrown }) => (thrown as AgentError).code)).toEqual(Array(20).fill("unavailable"));
    expect([asked(), state().state]).toEqual([5, "half-open"]);
    answer(PONG);
    expect(await probe).toEqual({ events: [PONG] });
    expect(state()).toMatchObject({ state: "closed", calls: 0 });
    expect(changes().slice(1)).toEqual([
      "open > half-open: a probe goes through after 5000 ms",
      "half-open > closed: the probe was answered",
    ]);
  });

  it("opens again when the probe fails, for the whole time", async () => {
    const { ask, clock, state, changes, asked } = await opened();
    await collect(ask());
    expect(state()).toMatchObject({ state: "open", probeInMs: 5_000 });
    expect(changes().at(-1)).toBe("half-open > open: the probe failed: unavailable");
    await clock.advance(4_999);
    expect((await collect(ask())).thrown).toMatchObject({ facts: { retryAfterMs: 1 } });
    expect(asked()).toBe(5);
  });

  it("the first event of a stream is enough, however long the stream", async () => {
    const { handler, become, state } = await opened();
    become(() => streamOf(working, completed));
    const stream = iterate(handler(send({}, { delivery: "stream" }), startCall()));
    await stream.next();
    expect(state().state).toBe("closed");
    await stream.return?.();
  });

  it("an abandoned probe is replaced by the next call", async () => {
    const { ask, handler, become, state, asked } = await opened();
    become(() => new Promise(() => undefined));
    const cancel = new CancelSource();
    handler(PING, startCall({ cancel })); // never settles, whatever it is told
    cancel.cancel(new AgentError("cancelled", "enough"));
    become(() => streamOf(working));
    const stream = iterate(handler(send({}, { delivery: "stream" }), startCall()));
    await stream.return?.();
    expect(state().state).toBe("half-open");
    become(ponging);
    expect(await collect(ask())).toEqual({ events: [PONG] });
    expect([asked(), state().state]).toEqual([7, "closed"]);
  });

  it("a probe that hangs fails after its time, and its late answer does not count", async () => {
    const { ask, clock, become, state, changes } = await opened({ probeMs: 800 });
    const { reply, answer } = openReply();
    become(() => reply);
    const probe = collect(ask());
    await clock.advance(800);
    expect((await collect(ask())).thrown).toMatchObject({ code: "unavailable", facts: { retryAfterMs: 5_000 } });
    expect(changes().at(-1)).toBe("half-open > open: the probe failed: no event within 800 ms");
    answer(PONG);
    await probe;
    expect(state().state).toBe("open");
  });

  it("calls of the time before count no more when they end", async () => {
    const { ask, become, fail, clock, state } = breaker();
    const { reply, fail: failLate } = openReply();
    become(() => reply);
    const late = collect(ask());
    await fail(4);
    await clock.advance(5_000);
    become(ponging);
    await collect(ask());
    failLate(down);
    await late;
    expect(state()).toMatchObject({ state: "closed", calls: 0, failures: 0 });
  });
});
