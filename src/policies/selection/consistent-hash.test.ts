import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { newEnvelope, type Operation, startCall } from "../../envelope/index.js";
import type { Destination } from "../destination.js";
import { consistentHash } from "./consistent-hash.js";

function to(id: string, weight?: number): Destination {
  return { id, weight, handler: async () => ({ kind: "done" }) };
}

function send(context: { sessionId?: string; traceId?: string }, id = "m"): Operation {
  const envelope = newEnvelope({ content: "go", src: "a", dst: "b", context }, { now: () => 1, newId: () => id });
  return { kind: "send", envelope, delivery: "answer", task: "auto" };
}

const bySession = consistentHash({ by: "session" });
const byTrace = consistentHash({ by: "trace" });

function placeOf(destinations: readonly Destination[], operation: Operation, selector = bySession): string {
  return selector.order(destinations, operation, startCall()).order[0]?.id ?? "nobody";
}

const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 12 }), { minLength: 2, maxLength: 12 });
const keys = fc.uniqueArray(fc.string({ maxLength: 40 }), { minLength: 1, maxLength: 60 });

describe("consistentHash", () => {
  it("when a destination is removed, only its keys move, in any listing order", () => {
    fc.assert(
      fc.property(names, keys, fc.nat(), (ids, sessions, pick) => {
        const all = ids.map((id) => to(id));
        const gone = all[pick % all.length];
        const left = all.filter((each) => each !== gone).reverse();
        for (const sessionId of sessions) {
          const before = placeOf(all, send({ sessionId }));
          const after = placeOf(left, send({ sessionId }));
          if (before !== gone?.id) expect(after).toBe(before);
          else expect(after).toBe(bySession.order(all, send({ sessionId }), startCall()).order[Math.min(1, left.length)]?.id);
        }
      }),
    );
  });

  it("spreads sessions by weight", () => {
    const all = [to("replica-1"), to("replica-2"), to("replica-3", 2)];
    const counts: Record<string, number> = { "replica-1": 0, "replica-2": 0, "replica-3": 0 };
    const total = 20_000;
    for (let n = 0; n < total; n++) {
      const id = placeOf(all, send({ sessionId: `session-${n}` }));
      counts[id] = (counts[id] ?? 0) + 1 / total;
    }
    expect(counts["replica-1"]).toBeCloseTo(0.25, 2);
    expect(counts["replica-2"]).toBeCloseTo(0.25, 2);
    expect(counts["replica-3"]).toBeCloseTo(0.5, 2);
  });

  it("keeps one conversation together, for all operations", () => {
    const all = ["a", "b", "c", "d", "e"].map((id) => to(id));
    const place = placeOf(all, send({ sessionId: "s-17" }));
    expect(placeOf(all, { kind: "task.list", contextId: "s-17" })).toBe(place);
    expect(placeOf(all, { kind: "session.close", sessionId: "s-17" })).toBe(place);
  });

  it("treats both spellings of a trace, and one in a header, as the same", () => {
    const all = Array.from({ length: 9 }, (_, n) => to(`d${n}`));
    const hex = "4bf92f3577b34da6a3ce929d0e0e4736";
    const place = placeOf(all, send({ traceId: hex }), byTrace);
    expect(placeOf(all, send({ traceId: "4bf92f35-77b3-4da6-a3ce-929d0e0e4736" }), byTrace)).toBe(place);
    const call = startCall({ parameters: { traceparent: `00-${hex}-00f067aa0ba902b7-01` } });
    expect(byTrace.order(all, { kind: "ping" }, call).order[0]?.id).toBe(place);
  });

  it("hashes messages without a key by id, and reports it", () => {
    const all = ["a", "b", "c"].map((id) => to(id));
    const choices = Array.from({ length: 50 }, (_, n) => bySession.order(all, send({}, `m-${n}`), startCall()));
    expect(new Set(choices.map(({ order }) => order[0]?.id)).size).toBe(3);
    expect(choices[0]?.because).toBe("no session; hashed by message id");
    expect(bySession.order(all, { kind: "ping" }, startCall())).toEqual({
      order: all,
      because: "no session; the first in order",
    });
  });
});
