import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fakeClock } from "../../../test/helpers/clock.js";
import { ByHand, done, failureOf, iterate, sendOf, settled, working } from "../../../test/helpers/ordering.js";
import { AgentError, type AgentEvent, CancelSource, type Handler, ownerOf, startCall, textOf } from "../../envelope/index.js";
import type { PolicyNote } from "../notes.js";
import { type OrderingOptions, ordering } from "./ordering.js";

function ordered(options: Partial<OrderingOptions> = {}) {
  const agent = new ByHand();
  const clock = fakeClock();
  const notes: PolicyNote[] = [];
  const layer = ordering({ by: "session", clock, destination: "b", notes: (note) => void notes.push(note), ...options });
  const handler = layer(agent.handler);
  return { agent, clock, notes, handler };
}

const inSession = (sessionId: string, more = {}) => ({ context: { sessionId, ...more } });
const queued = (notes: readonly PolicyNote[]) => notes.map((note) => (note.kind === "queue" ? note.depth : note.kind));

describe("ordering", () => {
  test("the next starts with the first event of the previous one, not with its end", async () => {
    const { agent, handler } = ordered();
    const first = iterate(handler(sendOf("1", { delivery: "stream" }), startCall()));
    const second = iterate(handler(sendOf("2", { delivery: "stream" }), startCall()));
    await settled();
    expect(agent.begun).toEqual(["1"]);
    agent.accept("1");
    await settled();
    expect(agent.begun).toEqual(["1", "2"]);
    expect(await first.next()).toEqual({ done: false, value: working });
    agent.accept("2");
    expect(await second.next()).toEqual({ done: false, value: working });
    const last = first.next();
    agent.answer("1");
    expect([await last, await first.next()]).toEqual([
      { done: false, value: done },
      { done: true, value: undefined },
    ]);
  });

  test("one that waits for a whole answer is accepted with it; sessions do not wait for each other", async () => {
    const { agent, handler, notes } = ordered();
    const first = handler(sendOf("1"), startCall());
    const second = handler(sendOf("2"), startCall());
    const other = handler(sendOf("other", inSession("elsewhere")), startCall());
    expect(agent.begun).toEqual(["1", "other"]);
    agent.answer("1");
    expect(await first).toBe(done);
    expect(agent.begun).toEqual(["1", "other", "2"]);
    agent.answer("2");
    agent.answer("other");
    expect([await second, await other]).toEqual([done, done]);
    expect(queued(notes)).toEqual([1, 0]);
    expect(notes[0]).toMatchObject({ kind: "queue", queue: "ordering", destination: "b" });
  });

  test("does not queue messages that name a task or no session, and other operations", async () => {
    const { agent, handler } = ordered();
    handler(sendOf("asks"), startCall());
    handler(sendOf("input", inSession("s", { taskId: "t-1" })), startCall());
    handler(sendOf("alone", { context: {} }), startCall());
    expect(agent.begun).toEqual(["asks", "input", "alone"]);
    expect(await failureOf(handler({ kind: "ping" }, startCall()))).toMatchObject({ message: "asked for ping" });
  });

  test("by trace, however the trace id is written", async () => {
    const { agent, handler } = ordered({ by: "trace" });
    const traceId = "4bf92f35-77b3-4da6-a3ce-929d0e0e4736";
    handler(sendOf("1", { context: { traceId } }), startCall());
    handler(sendOf("2", { context: { traceId: traceId.replaceAll("-", "").toUpperCase() } }), startCall());
    handler(sendOf("3", { context: { sessionId: "s" } }), startCall());
    expect(agent.begun).toEqual(["1", "3"]);
    agent.answer("1");
    await settled();
    expect(agent.begun).toEqual(["1", "3", "2"]);
  });

  test("two callers with one name of a session, and two agents, are four lines", () => {
    const { agent, handler } = ordered();
    for (const id of ["alice", "bob"])
      for (const name of ["x", "y"]) {
        const caller = { id, scheme: "key", scopes: [], owner: ownerOf("key", id) } as const;
        handler(sendOf(`${id} ${name}`), startCall({ caller, agent: name }));
      }
    expect(agent.begun).toHaveLength(4);
  });

  test.each([
    ["an error", (agent: ByHand) => agent.fail("1", new AgentError("unavailable", "gone"))],
    ["its caller giving up, although the agent does not hear it", (_: ByHand, cancel: CancelSource) => cancel.cancel(GONE)],
  ])("%s starts the next one", async (_what, end) => {
    const { agent, handler } = ordered();
    const cancel = new CancelSource();
    const first = failureOf(handler(sendOf("1"), startCall({ cancel })));
    handler(sendOf("2"), startCall());
    end(agent, cancel);
    await settled();
    expect(agent.begun).toEqual(["1", "2"]);
    agent.fail("1", GONE);
    expect(await first).toBeInstanceOf(AgentError);
    agent.answer("2");
  });

  test("a handler that throws does not block the queue", async () => {
    const throwing: Handler = () => {
      throw new AgentError("encode", "no");
    };
    const handler = ordering({ by: "session", clock: fakeClock(), destination: "b" })(throwing);
    expect((await Promise.all([1, 2].map((n) => failureOf(handler(sendOf(`${n}`), startCall()))))).map((e) => e?.code)).toEqual([
      "encode",
      "encode",
    ]);
  });

  test("cancel and deadline end the wait, and leave no timer; nothing was sent", async () => {
    const { agent, clock, handler, notes } = ordered();
    handler(sendOf("1"), startCall());
    const cancel = new CancelSource();
    const cancelled = failureOf(handler(sendOf("2"), startCall({ cancel, deadline: 1_000 })));
    const late = failureOf(handler(sendOf("3"), startCall({ deadline: 50 })));
    const stream = iterate(handler(sendOf("4", { delivery: "stream" }), startCall({ deadline: 1_000 })));
    const pulled = stream.next();
    cancel.cancel(GONE);
    await clock.advance(50);
    expect(await cancelled).toBe(GONE);
    expect(await late).toMatchObject({ code: "deadline", facts: { sent: "no" } });
    expect(await stream.return?.()).toEqual({ done: true, value: undefined });
    expect(await pulled).toEqual({ done: true, value: undefined });
    expect(clock.waiting).toBe(0);
    expect(await failureOf(handler(sendOf("5"), startCall({ deadline: 50 })))).toMatchObject({ code: "deadline" });
    expect(await failureOf(handler(sendOf("6"), startCall({ cancel })))).toBe(GONE);
    agent.answer("1");
    await settled();
    expect([agent.begun, queued(notes)]).toEqual([["1"], [1, 2, 3, 2, 1, 0]]);
    handler(sendOf("7"), startCall());
    expect(agent.begun).toEqual(["1", "7"]);
  });

  test("both limits refuse as overloaded, and a line that ended makes room", async () => {
    const { agent, handler } = ordered({ waiting: 1, keys: 2 });
    handler(sendOf("1"), startCall());
    handler(sendOf("2"), startCall());
    expect(await failureOf(handler(sendOf("3"), startCall()))).toMatchObject({
      code: "overloaded",
      facts: { sent: "no", retryAfterMs: 1_000 },
    });
    handler(sendOf("a", inSession("a")), startCall());
    expect(await failureOf(handler(sendOf("b", inSession("b")), startCall()))).toMatchObject({ code: "overloaded" });
    agent.answer("a");
    await settled();
    handler(sendOf("b", inSession("b")), startCall());
    expect(agent.begun).toEqual(["1", "a", "b"]);
  });

  test("with few slots, sessions of one priority take turns", async () => {
    const { agent, handler } = ordered({ atOnce: 1 });
    for (const [text, session] of ["a1 a", "a2 a", "a3 a", "b1 b", "b2 b"].map((line) => line.split(" ")))
      handler(sendOf(text ?? "", inSession(session ?? "")), startCall());
    for (let index = 0; index < 4; index++) {
      agent.answer(agent.begun.at(-1) ?? "");
      await settled();
    }
    expect(agent.begun).toEqual(["a1", "b1", "a2", "b2", "a3"]);
  });

  test("priority decides between sessions, never within one", async () => {
    const { agent, handler } = ordered({ atOnce: 1 });
    handler(sendOf("now", inSession("z")), startCall());
    handler(sendOf("a1", inSession("a")), startCall());
    handler(sendOf("a2", inSession("a", { priority: 9 })), startCall());
    handler(sendOf("b1", inSession("b")), startCall());
    handler(sendOf("c1", inSession("c", { priority: 5 })), startCall());
    handler(sendOf("c2", inSession("c")), startCall());
    for (let index = 0; index < 6; index++) {
      agent.answer(agent.begun.at(-1) ?? "");
      await settled();
    }
    expect(agent.begun).toEqual(["now", "c1", "a1", "a2", "b1", "c2"]);
  });

  test("monotonic under load: for any delays, shapes and failures, each session starts in order", async () => {
    const message = fc.record({
      session: fc.constantFrom("x", "y", "z"),
      stream: fc.boolean(),
      priority: fc.integer({ min: 0, max: 3 }),
      work: fc.integer({ min: 0, max: 20 }),
      fails: fc.boolean(),
      gaveUpAfter: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(message, { maxLength: 40 }), fc.option(fc.integer({ min: 1, max: 3 })), async (plan, atOnce) => {
        const clock = fakeClock();
        const begun: number[] = [];
        const unaccepted = new Set<number>();
        let overtaken = 0;
        const agent: Handler = (operation, call) => {
          const { envelope } = operation as ReturnType<typeof sendOf>; // only messages are sent below
          const index = Number(textOf(envelope.content));
          const { session = "", work = 0, fails = false, stream = false } = plan[index] ?? {};
          begun.push(index);
          for (const other of unaccepted) if (plan[other]?.session === session) overtaken++;
          unaccepted.add(index);
          const accepted = clock.sleep(work, call.cancel).finally(() => unaccepted.delete(index));
          const answer = accepted.then((): AgentEvent => {
            if (fails) throw new AgentError("unavailable", "no");
            return done;
          });
          if (!stream) return answer;
          return (async function* () {
            yield await answer;
            await clock.sleep(work, call.cancel);
            yield done;
          })();
        };
        const handler = ordering({ by: "session", clock, destination: "b", atOnce: atOnce ?? undefined })(agent);
        plan.forEach(({ session, stream, priority, gaveUpAfter }, index) => {
          const cancel = new CancelSource();
          const context = { sessionId: session, priority };
          const reply = handler(sendOf(`${index}`, { context, delivery: stream ? "stream" : "answer" }), startCall({ cancel }));
          drained(reply).catch(() => undefined);
          if (gaveUpAfter === undefined) return;
          clock.after(gaveUpAfter, () => {
            unaccepted.delete(index);
            cancel.cancel(GONE);
          });
        });
        for (let step = 0; step < 90 && clock.waiting > 0; step++) await clock.advance(10);
        for (const name of ["x", "y", "z"]) {
          const ofSession = begun.filter((index) => plan[index]?.session === name);
          expect(ofSession).toEqual([...ofSession].sort((a, b) => a - b));
        }
        const expected = plan.flatMap(({ gaveUpAfter }, index) => (gaveUpAfter === undefined ? [index] : []));
        expect(begun).toEqual(expect.arrayContaining(expected));
        expect([overtaken, clock.waiting]).toEqual([0, 0]);
      }),
      { numRuns: 40 },
    );
  });
});

const GONE = new AgentError("cancelled", "gone");

async function drained(reply: ReturnType<Handler>): Promise<void> {
  if ("then" in reply) await reply;
  else for await (const _event of reply);
}
