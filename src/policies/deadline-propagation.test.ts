import { describe, expect, test } from "vitest";
import { fakeClock } from "../../test/helpers/clock.js";
import { ByHand, done, failureOf, sendOf } from "../../test/helpers/ordering.js";
import { startCall } from "../envelope/index.js";
import { deadlinePropagation } from "./deadline-propagation.js";

function travelling(ttlMs: number | undefined, deadline: number | undefined) {
  const agent = new ByHand();
  const clock = fakeClock(10_000);
  const handler = deadlinePropagation({ clock, graceMs: 50 })(agent.handler);
  const reply = handler(sendOf("m", { context: { sessionId: "s", ttlMs } }), startCall({ deadline }));
  const said = () => agent.operations.map(({ envelope }) => envelope.context);
  return { agent, clock, reply, said };
}

describe("travellingDeadline", () => {
  test.each([
    { what: "no limit at all: nothing is said", ttlMs: undefined, deadline: undefined, said: undefined, waits: undefined },
    { what: "what is left of the deadline is said", ttlMs: undefined, deadline: 13_000, said: 3_000, waits: 13_000 },
    { what: "of two the shorter: the deadline", ttlMs: 9_000, deadline: 13_000.9, said: 3_000, waits: 13_000.9 },
    {
      what: "of two the shorter: its own, and the wait ends with it",
      ttlMs: 2_000,
      deadline: 13_000,
      said: 2_000,
      waits: 12_050,
    },
    {
      what: "its own limits the wait, and the peer has time to say it itself",
      ttlMs: 2_000,
      deadline: undefined,
      said: 2_000,
      waits: 12_050,
    },
    { what: "a fraction of a millisecond is still some time", ttlMs: undefined, deadline: 10_000.5, said: 1, waits: 10_000.5 },
    { what: "a limit that is none is for the peer to refuse", ttlMs: 0, deadline: 13_000, said: 0, waits: 13_000 },
    { what: "the same without a deadline", ttlMs: -1, deadline: undefined, said: -1, waits: undefined },
  ])("$what", async ({ ttlMs, deadline, said, waits }) => {
    const { agent, reply, said: contexts, clock } = travelling(ttlMs, deadline);
    expect(contexts()).toEqual([{ sessionId: "s", ttlMs: said }]);
    expect(agent.callOf("m").deadline).toBe(waits);
    agent.answer("m");
    expect([await reply, clock.waiting]).toEqual([done, 0]);
  });

  test.each([
    ["the deadline", undefined, 13_000, 3_000],
    ["its own limit", 2_000, undefined, 2_050],
  ])("the wait ends with %s", async (_what, ttlMs, deadline, afterMs) => {
    const { agent, clock, reply } = travelling(ttlMs, deadline);
    const failure = failureOf(reply);
    await clock.advance(afterMs - 1);
    expect(agent.callOf("m").cancel.cancelled).toBe(false);
    await clock.advance(1);
    expect([(await failure)?.code, agent.callOf("m").cancel.cancelled, clock.waiting]).toEqual(["deadline", true, 0]);
  });

  test("nothing is sent when the time is over", async () => {
    const { agent, reply } = travelling(undefined, 10_000);
    expect(await failureOf(reply)).toMatchObject({ code: "deadline", facts: { sent: "no" } });
    expect(agent.begun).toEqual([]);
  });

  test("other operations keep the deadline they have", async () => {
    const clock = fakeClock();
    const handler = deadlinePropagation({ clock })(() => new Promise(() => undefined));
    const failure = failureOf(handler({ kind: "ping" }, startCall({ deadline: 30 })));
    await clock.advance(30);
    expect(await failure).toMatchObject({ code: "deadline" });
  });
});
