import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fakeClock } from "../../../test/helpers/clock.js";
import { collect, completed, iterate, PING, PONG, place, send, streamOf, working } from "../../../test/helpers/policies.js";
import {
  AgentError,
  type AgentEvent,
  CancelSource,
  ERRORS,
  type ErrorCode,
  type Handler,
  type Operation,
  type Reply,
  startCall,
} from "../../envelope/index.js";
import { retryBudget } from "./budget.js";
import { type RetryOptions, retry } from "./retry.js";

const gone = new AgentError("unavailable", "gone", { sent: "no" });

/** A peer that gives one reply per try, the last for ever; it remembers what it was asked. */
function peer(...replies: readonly (() => Reply)[]) {
  const asked: Operation[] = [];
  const handler: Handler = (operation) => {
    const reply = replies[Math.min(asked.length, replies.length - 1)] ?? (() => Promise.resolve(PONG));
    asked.push(operation);
    return reply();
  };
  return { handler, asked };
}
const failing = (error: AgentError) => (): Reply => Promise.reject(error);
const ponging = (): Reply => Promise.resolve(PONG);

function retrying(change: Partial<RetryOptions> = {}) {
  const clock = fakeClock();
  const { heard, ...at } = place();
  return { clock, heard, layer: retry({ ...at, clock, random: () => 0.5, ...change }) };
}

/** Lets the clock run until the reply has ended. */
async function played(clock: ReturnType<typeof fakeClock>, reply: Reply, forMs = 60_000) {
  const result = collect(reply);
  await clock.advance(0); // the first wait has begun
  await clock.advance(forMs);
  return result;
}

describe("retry", () => {
  it("waits with growing jitter between attempts, reports it, and returns the answer", async () => {
    const { handler, asked } = peer(failing(gone), failing(gone), ponging);
    const { clock, heard, layer } = retrying();
    expect(await played(clock, layer(handler)(PING, startCall()))).toEqual({ events: [PONG] });
    expect(asked).toHaveLength(3);
    const base = { traceId: undefined, destination: "peer", protocol: "toy", error: gone };
    expect(heard).toEqual([
      { ...base, kind: "backoff", attempt: 1, waitMs: 50 },
      { ...base, kind: "retry", attempt: 1 },
      { ...base, kind: "backoff", attempt: 2, waitMs: 100 },
      { ...base, kind: "retry", attempt: 2 },
    ]);
    expect(clock.waiting).toBe(0);
  });

  it("ends with the error of the last try when all failed", async () => {
    const last = new AgentError("overloaded", "last", { sent: "no" });
    const { handler, asked } = peer(failing(gone), failing(last));
    const { clock, layer } = retrying({ tries: 2 });
    expect(await played(clock, layer(handler)(PING, startCall()))).toEqual({ events: [], thrown: last });
    expect(asked).toHaveLength(2);
  });

  it("a handler that throws instead of answering is tried again too", async () => {
    const { handler } = peer(() => {
      throw gone;
    }, ponging);
    const { clock, layer } = retrying();
    expect(await played(clock, layer(handler)(PING, startCall()))).toEqual({ events: [PONG] });
  });

  it("sends the same id and key again, and increments the attempt count", async () => {
    const { handler, asked } = peer(failing(gone), failing(gone), ponging);
    const { clock, layer } = retrying();
    const first = send({ idempotencyKey: "k" });
    const counted = { ...first, envelope: { ...first.envelope, meta: { protocolHint: "toy", retryCount: 4 } } };
    await played(clock, layer(handler)(counted, startCall()));
    const seen = asked.map((each) => each.kind === "send" && [each.envelope.id, each.envelope.context, each.envelope.meta]);
    expect(seen).toEqual([4, 5, 6].map((retryCount) => ["m", { idempotencyKey: "k" }, { protocolHint: "toy", retryCount }]));
  });

  it.each([
    { honours: true, key: undefined, want: "fresh" },
    { honours: true, key: "own", want: "own" },
    { honours: false, key: undefined, want: undefined },
  ])("adds a key only if the peer deduplicates and the message has none: $want", async ({ honours, key, want }) => {
    const { handler, asked } = peer(ponging);
    const { clock, layer } = retrying({ newKey: () => "fresh", idempotentSend: () => honours });
    await played(clock, layer(handler)(send({ idempotencyKey: key }), startCall()));
    expect(asked.map((each) => each.kind === "send" && each.envelope.context.idempotencyKey)).toEqual([want]);
  });
});

// By the review of the design: the code allows it, and nothing was sent, or the operation is safe, or the key is honoured.
const TRIED_AGAIN: readonly ErrorCode[] = ["session_expired", "overloaded", "unavailable", "interrupted", "deadline"];

describe("retry categories", () => {
  const rows = Object.keys(ERRORS).flatMap((word) => {
    const code = word as ErrorCode; // the keys of the table are the codes
    const may = TRIED_AGAIN.includes(code);
    return [
      { code, sent: "no" as const, what: "a send", operation: send(), honours: false, again: may },
      { code, sent: "maybe" as const, what: "a send", operation: send(), honours: true, again: false },
      { code, sent: undefined, what: "a send", operation: send(), honours: true, again: false },
      {
        code,
        sent: "maybe" as const,
        what: "a send with a key",
        operation: send({ idempotencyKey: "k" }),
        honours: true,
        again: may,
      },
      {
        code,
        sent: "maybe" as const,
        what: "a send with a key",
        operation: send({ idempotencyKey: "k" }),
        honours: false,
        again: false,
      },
      { code, sent: "maybe" as const, what: "a ping", operation: PING, honours: false, again: may },
      {
        code,
        sent: "maybe" as const,
        what: "a cancel",
        operation: { kind: "task.cancel", taskId: "t" } as const,
        honours: true,
        again: false,
      },
    ];
  });
  it.each(rows)(
    "$code, sent $sent, $what, deduplicates $honours: retried $again",
    async ({ code, sent, operation, honours, again }) => {
      const error = new AgentError(code, "no", sent === undefined ? {} : { sent });
      const { handler, asked } = peer(failing(error), ponging);
      const { clock, layer } = retrying({ idempotentSend: () => honours });
      const result = await played(clock, layer(handler)(operation, startCall()));
      expect({ asked: asked.length, result }).toEqual(
        again ? { asked: 2, result: { events: [PONG] } } : { asked: 1, result: { events: [], thrown: error } },
      );
    },
  );

  it("an expired session is retried once, whatever else fails in between", async () => {
    const expired = new AgentError("session_expired", "again", { sent: "no" });
    const { handler, asked } = peer(failing(expired), failing(gone), failing(expired));
    const { clock, layer } = retrying({ tries: 9 });
    expect(await played(clock, layer(handler)(PING, startCall()))).toEqual({ events: [], thrown: expired });
    expect(asked).toHaveLength(3);
  });
});

describe("retry, time", () => {
  const asksFor = (retryAfterMs: number) => new AgentError("overloaded", "later", { sent: "no", retryAfterMs });

  it("waits at least `retryAfterMs`", async () => {
    const { handler, asked } = peer(failing(asksFor(2_000)), ponging);
    const { clock, layer } = retrying();
    const result = collect(layer(handler)(PING, startCall()));
    await clock.advance(0);
    await clock.advance(2_000);
    expect(asked).toHaveLength(1);
    await clock.advance(50);
    expect(await result).toEqual({ events: [PONG] });
  });

  it.each([
    { name: "a wait behind the deadline", error: asksFor(2_000), deadline: 2_000 },
    { name: "a jitter that ends with the deadline", error: gone, deadline: 50 },
    { name: "a peer that asks for more than we wait", error: asksFor(20_001), deadline: undefined },
  ])("$name is not started: the error is immediate", async ({ error, deadline }) => {
    const { handler, asked } = peer(failing(error), ponging);
    const { clock, layer } = retrying();
    expect(await collect(layer(handler)(PING, startCall({ deadline })))).toEqual({ events: [], thrown: error });
    expect([asked.length, clock.waiting]).toEqual([1, 0]);
  });

  it.each([PING, send({}, { delivery: "stream" })])("stops waiting when the caller leaves: $kind", async (operation) => {
    const { handler, asked } = peer(failing(gone), ponging);
    const { clock, layer } = retrying();
    const cancel = new CancelSource();
    const result = collect(layer(handler)(operation, startCall({ cancel })));
    await clock.advance(0);
    const enough = new AgentError("cancelled", "enough");
    cancel.cancel(enough);
    expect(await result).toEqual({ events: [], thrown: enough });
    expect([asked.length, clock.waiting]).toEqual([1, 0]);
  });

  it("the wait is never longer than its bound, and the bound never longer than the longest", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 400 }),
        async (luck, firstWaitMs) => {
          const { handler } = peer(failing(gone));
          const { clock, heard, layer } = retrying({ tries: 6, firstWaitMs, longestWaitMs: 1_000, random: () => luck });
          await played(clock, layer(handler)(PING, startCall()));
          const waits = heard.flatMap((note) => (note.kind === "backoff" ? [note.waitMs] : []));
          expect(waits).toEqual([1, 2, 4, 8, 16].map((times) => luck * Math.min(1_000, firstWaitMs * times)));
        },
      ),
      { numRuns: 20 },
    );
  });
});

describe("retry, streams", () => {
  const asked = send({}, { delivery: "stream" });

  it("restarts until an event was delivered, also after a rejection without a stream", async () => {
    const { handler } = peer(
      failing(gone),
      () => streamOf(gone),
      () => streamOf(working, completed),
    );
    const { clock, layer } = retrying();
    expect(await played(clock, layer(handler)(asked, startCall()))).toEqual({ events: [working, completed] });
  });

  it("never restarts after an event was delivered", async () => {
    const cut = new AgentError("interrupted", "cut", { sent: "no" });
    const played1 = peer(
      () => streamOf(working, cut),
      () => streamOf(completed),
    );
    const { clock, layer } = retrying();
    expect(await played(clock, layer(played1.handler)(asked, startCall()))).toEqual({ events: [working], thrown: cut });
    expect(played1.asked).toHaveLength(1);
  });

  it("a reader that leaves during the wait ends it, without another request", async () => {
    const { handler, asked: seen } = peer(
      () => streamOf(gone),
      () => streamOf(completed),
    );
    const { clock, layer } = retrying();
    const stream = iterate(layer(handler)(asked, startCall()));
    const [first, second] = [stream.next(), stream.next()];
    await clock.advance(0);
    await stream.return?.();
    expect(await Promise.all([first, second])).toEqual(Array(2).fill({ done: true, value: undefined }));
    expect([seen.length, clock.waiting]).toEqual([1, 0]);
  });

  it("pulls that do not wait for each other come in order", async () => {
    const { handler } = peer(
      () => streamOf(gone),
      () => streamOf(working, completed),
    );
    const { clock, layer } = retrying();
    const stream = iterate(layer(handler)(asked, startCall()));
    const pulls = Promise.all([stream.next(), stream.next(), stream.next()]);
    await clock.advance(0);
    await clock.advance(1_000);
    expect((await pulls).map(({ value }) => value as AgentEvent | undefined)).toEqual([working, completed, undefined]);
  });
});

describe("retry budget", () => {
  it("a peer that always fails gets few extra calls", async () => {
    const calls = 1_000;
    const { handler, asked } = peer(failing(gone));
    const { clock, layer } = retrying();
    const all = Promise.all(Array.from({ length: calls }, () => collect(layer(handler)(PING, startCall()))));
    await clock.advance(0);
    await clock.advance(60_000);
    expect((await all).every(({ thrown }) => thrown === gone)).toBe(true);
    // 0.2 per call, 10 in advance and one per second that passed while they waited; saved up are at most 100.
    expect(asked.length / calls).toBeLessThanOrEqual(1.22);
    expect(asked.length).toBeGreaterThan(calls);
  });

  it("one budget for two layers is spent by both", async () => {
    const clock = fakeClock();
    const budget = retryBudget({ clock, share: 0, perSecond: 0.1 });
    const { handler, asked } = peer(failing(gone));
    for (let index = 0; index < 2; index++) {
      const { layer } = retrying({ clock, budget });
      await played(clock, layer(handler)(PING, startCall()), 1_000);
    }
    expect(asked).toHaveLength(3); // two calls, one retry
  });

  it("a retry costs one, a call brings its share, a second its floor, and only so much is saved", () => {
    let nowMs = 0;
    const budget = retryBudget({ clock: { ...fakeClock(), now: () => nowMs }, share: 0.5, perSecond: 1, saved: 4 });
    const spent = () => Array.from({ length: 20 }, () => budget.spend()).filter(Boolean).length;
    expect(spent()).toBe(4);
    for (let index = 0; index < 6; index++) budget.called();
    expect(spent()).toBe(3);
    nowMs += 2_000;
    expect(spent()).toBe(2);
    nowMs += 60_000;
    expect(spent()).toBe(4);
  });

  it("never exceeds its share, its floor and its initial balance", () => {
    const step = fc.constantFrom("call", "spend", "spend", "spend", "wait");
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), fc.double({ min: 0, max: 1, noNaN: true }), (steps, share) => {
        let nowMs = 0;
        const budget = retryBudget({ clock: { ...fakeClock(), now: () => nowMs }, share, perSecond: 2, saved: 30 });
        let [calls, granted] = [0, 0];
        for (const what of steps) {
          if (what === "call") {
            calls++;
            budget.called();
          } else if (what === "wait") nowMs += 100;
          else if (budget.spend()) granted++;
          expect(granted).toBeLessThanOrEqual(share * calls + 2 * (nowMs / 1_000 + 10) + 1e-6);
        }
      }),
    );
  });
});
