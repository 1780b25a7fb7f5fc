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
  let told: (readonly [number, string])[];
  let progress: Progress;
  beforeEach(() => {
    clock = handClock();
    told = [];
    progress = new Progress(async (count, message) => void told.push([count, message]), clock);
  });

  it("tells each status, and counts up", async () => {
    await progress.see(working("one"));
    await progress.see(working("two"));
    expect(told).toEqual([
      [1, "one"],
      [2, "two"],
    ]);
  });

  it("puts pieces together that come fast, keeps their order, and leaves none behind", async () => {
    for (const text of ["a", "b", "c"]) await progress.see(piece(text));
    expect(told).toEqual([]);
    clock.move(50);
    await progress.see(piece("d"));
    await progress.see(piece("e"));
    await progress.see(completed);
    expect(told.map(([, message]) => message)).toEqual(["abcd", "e"]);
  });

  it("breaks a long silence, and says nothing after the end", async () => {
    clock.move(15_000);
    expect(told).toEqual([[1, "still at work"]]);
    progress.end();
    clock.move(60_000);
    expect(told).toHaveLength(1);
    expect(clock.next).toBeUndefined();
  });
});
