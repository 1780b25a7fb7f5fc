import { expect, it } from "vitest";
import { sampleEvents } from "../../../test/helpers/bench-events.js";
import type { BenchEvent } from "./event.js";
import { summarise } from "./summarise.js";

/** Three workers; the second answers only one entry, the third none. Its requests have known times. */
function queueEvents(): BenchEvent[] {
  return sampleEvents().map((event) => {
    if (event.type === "process-started") return { ...event, agents: ["agent-1", "agent-2", "agent-3"] };
    if (event.type === "request" && event.seq === 0) return { ...event, to: "agent-2", attempts: 2, networkErrors: 1 };
    return event;
  });
}

it("counts tasks and times of every worker, and how unevenly they are spread", () => {
  const [run] = summarise(queueEvents()).runs;
  // Request `seq` takes 1,000 + seq µs, and is sent 10 µs after its intended start.
  expect(run?.workers).toEqual([
    { agent: "agent-1", tasks: 9, meanUs: 1_005, sdUs: Math.sqrt(60 / 8), totalUs: 9 * 990 + 45 },
    { agent: "agent-2", tasks: 1, meanUs: 1_000, sdUs: null, totalUs: 990 },
    { agent: "agent-3", tasks: 0, meanUs: null, sdUs: null, totalUs: 0 },
  ]);
  // Of 9, 1 and 0 tasks: mean 10/3, squares 289/9 + 49/9 + 100/9, over two.
  expect(run?.metrics.balanceVariance).toBeCloseTo(438 / 9 / 2, 9);
  expect(run?.requests).toMatchObject({ retries: 1, networkErrors: 1 });
});

it("has the duration, and the time of encoding and decoding alone", () => {
  const [run] = summarise(sampleEvents()).runs;
  expect(run?.metrics.durationS).toBe(2);
  expect(run?.metrics.dropRate).toBe(0);
  // 90 to encode, 50 to decode at the agent, 30 to encode the reply, 100 + seq to decode it.
  expect(run?.metrics.adapterMeanUs).toBeCloseTo(274.5, 6);
  expect(run?.metrics.balanceVariance).toBeNull();
});

it("knows no adapter time where an implementation does not show its parts, and counts arrivals that were not sent", () => {
  const events = sampleEvents().map((event): BenchEvent => {
    if (event.type === "service") return { ...event, stamps: { serviceStart: 1, serviceEnd: 2 } };
    if (event.type === "request" && event.seq > 7) return { ...event, outcome: "dropped", attempts: 0, to: "nobody" };
    return event;
  });
  const [run] = summarise(events).runs;
  expect(run?.metrics.adapterMeanUs).toBeNull();
  expect(run?.metrics.dropRate).toBe(0.2);
});
