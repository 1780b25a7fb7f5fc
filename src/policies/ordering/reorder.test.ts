import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fakeClock } from "../../../test/helpers/clock.js";
import { ByHand, done, failureOf, iterate, sendOf, settled } from "../../../test/helpers/ordering.js";
import { AgentError, CancelSource, type Handler, type Metadata, ownerOf, startCall, textOf } from "../../envelope/index.js";
import type { PolicyNote } from "../notes.js";
import { numbering } from "./numbering.js";
import { type ReorderOptions, reorder } from "./reorder.js";
import { SEQUENCE_KEY } from "./sequence-number.js";

const GONE = new AgentError("cancelled", "gone");

function received(options: Partial<ReorderOptions> = {}) {
  const agent = new ByHand();
  const clock = fakeClock();
  const notes: PolicyNote[] = [];
  const layer = reorder({ clock, destination: "b", waitMs: 100, notes: (note) => void notes.push(note), ...options });
  const handler = layer(agent.handler);
  return { agent, clock, notes, handler };
}

const place = (number: unknown, stream: unknown = "q"): Metadata => ({ [SEQUENCE_KEY]: { stream, number } as Metadata });
/** The message with this number; its text is the number. */
const numbered = (number: number, idempotencyKey?: string, stream = "q") =>
  sendOf(`${number}`, { context: { sessionId: "s", idempotencyKey }, metadata: place(number, stream) });

describe("numbering", () => {
  const sent = (handler: Handler, agent: ByHand, ...operations: readonly ReturnType<typeof sendOf>[]) => {
    for (const operation of operations) handler(operation, startCall());
    return agent.operations.map(({ envelope }) => envelope.metadata);
  };

  test("counts from 1 for each session, keeps the author's members, and names each sequence anew", () => {
    const agent = new ByHand();
    let ids = 0;
    const handler = numbering({ by: "session", newId: () => `id-${++ids}` })(agent.handler);
    const elsewhere = { context: { sessionId: "t" } };
    const got = sent(
      handler,
      agent,
      sendOf("a", { metadata: { own: true }, context: { sessionId: "s" } }),
      sendOf("b"),
      sendOf("c", elsewhere),
    );
    expect(got).toEqual([{ own: true, ...place(1, "id-1") }, place(2, "id-1"), place(1, "id-2")]);
  });

  test("passes messages that name a task, have no session, or already have a number", () => {
    const agent = new ByHand();
    const handler = numbering({ by: "session", newId: () => "new" })(agent.handler);
    const ofTask = sendOf("a", { context: { sessionId: "s", taskId: "t" } });
    expect(sent(handler, agent, ofTask, sendOf("b", { context: {} }), numbered(7))).toEqual([undefined, undefined, place(7)]);
  });

  test("an evicted session starts a new sequence, so that memory stays bounded", () => {
    const agent = new ByHand();
    let ids = 0;
    const handler = numbering({ by: "session", newId: () => `id-${++ids}`, keys: 4 })(agent.handler);
    const sessions = ["s", "t", "u", "v", "w", "s"].map((sessionId) => sendOf("x", { context: { sessionId } }));
    expect(sent(handler, agent, ...sessions).at(-1)).toEqual(place(1, "id-6"));
  });
});

describe("reorder", () => {
  test("starts in order of the numbers, each when the previous one was accepted", async () => {
    const { agent, handler, notes, clock } = received();
    const third = handler(numbered(3), startCall());
    handler(sendOf("2", { delivery: "stream", metadata: place(2) }), startCall());
    expect(agent.begun).toEqual([]);
    handler(numbered(1), startCall());
    expect(agent.begun).toEqual(["1"]);
    agent.answer("1");
    await settled();
    expect(agent.begun).toEqual(["1", "2"]);
    agent.accept("2");
    await settled();
    agent.answer("3");
    expect(await third).toBe(done);
    expect(notes.map((note) => note.kind === "queue" && note.depth)).toEqual([1, 2, 1, 0]);
    expect(clock.waiting).toBe(0);
  });

  test("passes messages without a number, with a task, and other operations; rejects an invalid number", async () => {
    const { agent, handler } = received();
    handler(sendOf("plain"), startCall());
    handler(sendOf("input", { context: { taskId: "t" }, metadata: place(9) }), startCall());
    expect(agent.begun).toEqual(["plain", "input"]);
    for (const metadata of [place(0), place(1.5), place("1"), place(1, ""), place(1, "x".repeat(129)), { [SEQUENCE_KEY]: 1 }])
      expect(await failureOf(handler(sendOf("bad", { metadata }), startCall()))).toMatchObject({ code: "invalid_message" });
    expect(await failureOf(handler({ kind: "ping" }, startCall()))).toMatchObject({ message: "asked for ping" });
  });

  test("a gap is awaited once, noted and skipped; later arrivals are rejected", async () => {
    const { agent, clock, handler, notes } = received();
    handler(numbered(4), startCall());
    handler(numbered(5), startCall());
    await clock.advance(99);
    expect(agent.begun).toEqual([]);
    await clock.advance(1);
    expect(agent.begun).toEqual(["4"]);
    expect(notes.filter(({ kind }) => kind === "gap")).toMatchObject([{ first: 1, last: 3, waitMs: 100, destination: "b" }]);
    expect(await failureOf(handler(numbered(2), startCall()))).toMatchObject({ code: "expired" });
    agent.answer("4");
    await settled();
    expect([agent.begun, clock.waiting]).toEqual([["4", "5"], 0]);
  });

  test("time is counted while a number is missing, not while one is at work", async () => {
    const { agent, clock, handler, notes } = received();
    handler(numbered(1), startCall());
    handler(numbered(2), startCall());
    await clock.advance(10_000);
    expect([agent.begun, clock.waiting]).toEqual([["1"], 0]);
    agent.answer("1");
    await settled();
    expect(agent.begun).toEqual(["1", "2"]);
    expect(notes.some(({ kind }) => kind === "gap")).toBe(false);
  });

  test("the same number again is replayed; with the same key it is passed to a peer that deduplicates", async () => {
    const { agent, handler } = received();
    const twice = async (number: number, key: string | undefined) =>
      (await failureOf(handler(numbered(number, key), startCall())))?.code;
    handler(numbered(1, "k"), startCall());
    expect([await twice(1, "k"), await twice(1, undefined), await twice(1, "other")]).toEqual([
      "overloaded",
      "replayed",
      "replayed",
    ]);
    handler(numbered(3, "m"), startCall());
    expect([await twice(3, "m"), await twice(3, undefined)]).toEqual(["overloaded", "replayed"]);
    agent.answer("1");
    await settled();
    handler(numbered(1, "k"), startCall());
    expect([await twice(1, undefined), await twice(1, "other")]).toEqual(["replayed", "replayed"]);
    expect(agent.begun).toEqual(["1", "1"]);
  });

  test("a failed message may be sent again until a later one has started", async () => {
    const { agent, handler } = received();
    const failed = failureOf(handler(numbered(1), startCall()));
    agent.fail("1", new AgentError("overloaded", "later"));
    expect(await failed).toMatchObject({ code: "overloaded" });
    const again = failureOf(handler(numbered(1), startCall()));
    expect(agent.begun).toEqual(["1", "1"]);
    agent.fail("1", new AgentError("overloaded", "later"));
    expect(await again).toMatchObject({ code: "overloaded" });
    handler(numbered(2), startCall());
    expect(await failureOf(handler(numbered(1), startCall()))).toMatchObject({ code: "expired" });
    expect(agent.begun).toEqual(["1", "1", "2"]);
  });

  test("cancel, deadline and a leaving reader end the wait, and free the slot", async () => {
    const { agent, clock, handler } = received();
    const cancel = new CancelSource();
    const cancelled = failureOf(handler(numbered(2), startCall({ cancel })));
    const late = failureOf(handler(numbered(3), startCall({ deadline: 20 })));
    const stream = iterate(handler(sendOf("4", { delivery: "stream", metadata: place(4) }), startCall()));
    cancel.cancel(GONE);
    await clock.advance(20);
    await stream.return?.();
    expect([await cancelled, (await late)?.code, clock.waiting]).toEqual([GONE, "deadline", 0]);
    handler(numbered(2), startCall());
    handler(numbered(1), startCall());
    agent.answer("1");
    await settled();
    expect(agent.begun).toEqual(["1", "2"]);
  });

  test("every limit refuses as overloaded: of one sequence, of one caller, of all", async () => {
    const { handler, clock, agent } = received({ buffer: 1, streams: 3, streamsPerCaller: 2 });
    const as = (id: string) => startCall({ caller: { id, scheme: "key", scopes: [], owner: ownerOf("key", id) } });
    const code = async (reply: ReturnType<Handler>) => (await failureOf(reply))?.code;
    handler(numbered(2), as("alice"));
    expect(await code(handler(numbered(3), as("alice")))).toBe("overloaded");
    handler(numbered(2, undefined, "r"), as("alice"));
    expect(await code(handler(numbered(2, undefined, "third"), as("alice")))).toBe("overloaded");
    handler(numbered(2), as("bob"));
    expect(await code(handler(numbered(2), as("carol")))).toBe("overloaded");
    await clock.advance(100);
    expect(agent.begun).toEqual(["2", "2", "2"]);
    agent.answer("2");
    await settled();
    expect(await code(handler(numbered(2), as("bob")))).toBe("replayed");
    handler(numbered(1), as("carol"));
    expect(agent.begun).toEqual(["2", "2", "2", "1"]);
  });

  test("an idle sequence uses no slot, and continues where it was", async () => {
    const { agent, handler } = received({ streams: 2, streamsPerCaller: 1 });
    for (const stream of ["q", "r"]) {
      const reply = handler(numbered(1, undefined, stream), startCall());
      agent.answer("1");
      expect(await reply).toBe(done);
    }
    handler(numbered(2, undefined, "r"), startCall());
    expect(agent.begun).toEqual(["1", "1", "2"]);
  });

  test("sequences of two callers are independent, whatever their names", () => {
    const { agent, handler } = received();
    for (const id of ["alice", "bob"]) {
      const caller = { id, scheme: "key", scopes: [], owner: ownerOf("key", id) } as const;
      handler(numbered(1), startCall({ caller }));
    }
    expect(agent.begun).toEqual(["1", "1"]);
  });

  test("for any arrival order, numbers start ascending, and without a loss all of them start", async () => {
    const shuffled = fc.nat({ max: 30 }).chain((length) => {
      const numbers = Array.from({ length }, (_, index) => index + 1);
      return fc.tuple(
        fc.shuffledSubarray(numbers, { minLength: length, maxLength: length }),
        fc.array(fc.nat({ max: 5 }), { minLength: length, maxLength: length }),
        fc.subarray(numbers),
      );
    });
    await fc.assert(
      fc.asyncProperty(shuffled, fc.boolean(), async ([order, works, lost], withLoss) => {
        const clock = fakeClock();
        const begun: number[] = [];
        const agent: Handler = async (operation) => {
          const number = Number(textOf((operation as ReturnType<typeof sendOf>).envelope.content)); // only messages are sent
          begun.push(number);
          await clock.sleep(works[number - 1] ?? 0);
          return done;
        };
        const handler = reorder({ clock, destination: "b", waitMs: 1_000 })(agent);
        for (const number of order) if (!withLoss || !lost.includes(number)) failureOf(handler(numbered(number), startCall()));
        for (let step = 0; step < 100 && clock.waiting > 0; step++) await clock.advance(1_000);
        const came = order.filter((number) => !withLoss || !lost.includes(number));
        expect(begun).toEqual([...came].sort((a, b) => a - b));
      }),
      { numRuns: 60 },
    );
  });
});
