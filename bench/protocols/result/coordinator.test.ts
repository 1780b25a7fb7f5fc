import { expect, it } from "vitest";
import { REQUESTS, sampleEvents } from "../../../test/helpers/bench-events.js";
import type { BenchEvent } from "./event.js";
import { summarise } from "./summarise.js";

const RUN = "b0-0";

/** The sample events as of a queue whose coordinator was killed between the entries 4 and 5 of one run. */
function killedEvents(change: (events: readonly BenchEvent[]) => readonly BenchEvent[] = (events) => events): BenchEvent[] {
  const [first, ...rest] = sampleEvents();
  if (first?.type !== "plan") throw new Error("no plan");
  const conditions = first.plan.conditions.map((each) => ({ ...each, coordinator: { killAt: 4, downForMs: 0 } }));
  const fault = { type: "fault", run: RUN, kind: "kill", target: "caller" } as const;
  const killed = rest.flatMap((event): readonly BenchEvent[] =>
    event.type === "phase" && event.run === RUN && event.phase === "end"
      ? [
          { ...fault, step: "begin", ns: 41_000_000, verifiedNs: 41_100_000 },
          { ...fault, step: "end", ns: 42_000_000, verifiedNs: 49_000_000 },
          event,
        ]
      : [event],
  );
  return [{ type: "plan", plan: { ...first.plan, conditions } }, ...change(killed)];
}

function runOf(events: Iterable<BenchEvent>) {
  const found = summarise(events).runs.find(({ run }) => run === RUN);
  if (found === undefined) throw new Error("no run");
  return found;
}

it("says what the death of a coordinator did", () => {
  // Entry n begins at 10 n ms and is answered 1.0 to 1.009 ms later: four before the kill at 41 ms, the first after 49 ms at 51.005 ms.
  const { coordinator, invalid } = runOf(killedEvents());
  expect(coordinator).toEqual({ answeredBefore: 4, downUs: 8_000, firstAnswerUs: 2_005, sentAgain: 0 });
  expect(invalid).toEqual([]);
});

it("is invalid with an entry that has no answer, and with one that has two", () => {
  const isLast = (event: BenchEvent) => event.type === "request" && event.run === RUN && event.seq === REQUESTS - 1;
  expect(runOf(killedEvents((events) => events.filter((event) => !isLast(event)))).invalid).toContain(
    "1 of 10 entries have no answer",
  );
  const twice = runOf(killedEvents((events) => events.flatMap((event) => (isLast(event) ? [event, event] : [event]))));
  expect(twice.invalid).toContain("1 entries have more than one answer");
});
