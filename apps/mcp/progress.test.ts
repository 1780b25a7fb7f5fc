import { beforeEach, describe, expect, it } from "vitest";
import { type EventOf, newEnvelope, textPart } from "../../src/index.js";
import { type HandClock, handClock } from "../../test/helpers/mcp.js";
import { Progress } from "./progress.js";

type Event = EventOf<"send">;
const of = { taskId: "t", contextId: "c" };
const ids = { now: () => 0, newId: () => "id" };
const piece = (text: string): Event => ({
  kind: "artifact",
  ...of,
  artifact: { id: "a", parts: [textPart(text)] },
  append: true,
  last: false,
});
const working = (text: string): Event => {
  const message = newEnvelope({ content: text, src: "a", dst: "b", context: {} }, ids);
  return { kind: "status", ...of, status: { state: "working", at: 0, message } };
};
const completed: Event = { kind: "status", ...of, status: { state: "completed", at: 0 } };

describe("Progress", () => {
  let clock: HandClock;
  let reports: (readonly [number, string])[];
  let progress: Progress;
  beforeEach(() => {
    clock = handClock();
    reports = [];
    progress = new Progress(async (count, message) => void reports.push([count, message]), clock);
  });

  it("reports each status with an increasing count", async () => {
    await progress.report(working("one"));
    await progress.report(working("two"));
    expect(reports).toEqual([
      [1, "one"],
      [2, "two"],
    ]);
  });

  it("combines fast chunks in order without losing any", async () => {
    for (const text of ["a", "b", "c"]) await progress.report(piece(text));
    expect(reports).toEqual([]);
    clock.move(50);
    await progress.report(piece("d"));
    await progress.report(piece("e"));
    await progress.report(completed);
    expect(reports.map(([, message]) => message)).toEqual(["abcd", "e"]);
  });

  it("sends a heartbeat when idle, and nothing after the end", async () => {
    clock.move(15_000);
    expect(reports).toEqual([[1, "still working"]]);
    progress.end();
    clock.move(60_000);
    expect(reports).toHaveLength(1);
    expect(clock.next).toBeUndefined();
  });
});
