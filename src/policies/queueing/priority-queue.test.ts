import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PriorityQueue, type QueueEntry } from "./priority-queue.js";

describe("WaitingLine", () => {
  it("returns entries by rank, then by arrival, also after removals", () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("join" as const), rank: fc.integer({ min: -20, max: 20 }) }),
      fc.record({ kind: fc.constant("leave" as const), which: fc.nat(50) }),
      fc.record({ kind: fc.constant("next" as const) }),
    );
    const full = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 20, maxLength: 60 });
    fc.assert(
      fc.property(full, fc.array(step, { maxLength: 100 }), (ranks, more) => {
        const steps = [...ranks.map((rank) => ({ kind: "join" as const, rank })), ...more];
        const line = new PriorityQueue<QueueEntry>();
        let sorted: QueueEntry[] = []; // the plainest line there is
        const left: QueueEntry[] = [];
        for (const [arrival, each] of steps.entries()) {
          if (each.kind === "join") {
            const one = { rank: each.rank, arrival, index: -1 };
            line.join(one);
            sorted = [...sorted, one].sort((a, b) => a.rank - b.rank || a.arrival - b.arrival);
          } else if (each.kind === "leave") {
            const one = sorted[each.which % Math.max(1, sorted.length)] ?? left[0];
            if (one !== undefined) line.leave(one);
            if (one !== undefined) left.push(one);
            sorted = sorted.filter((other) => other !== one);
          } else expect(line.next()).toBe(sorted.shift());
          expect(line.length).toBe(sorted.length);
        }
        for (const want of sorted) expect(line.next()).toBe(want);
        expect(line.next()).toBeUndefined();
      }),
      { numRuns: 300 },
    );
  });
});
