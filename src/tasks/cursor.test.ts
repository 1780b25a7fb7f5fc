import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AgentError } from "../envelope/index.js";
import { cursorOf, journalPositionOf } from "./cursor.js";
import { byStatusTime, pageEndOf, pageTokenOf } from "./page-token.js";

/** Either a value, or a refusal of ours; nothing else may come out. */
function refusedOr<T>(parse: () => T): T | "refused" {
  try {
    return parse();
  } catch (thrown) {
    if (thrown instanceof AgentError && thrown.code === "invalid_message") return "refused";
    throw thrown;
  }
}

describe("placeOf()", () => {
  test("reads the output of cursorOf()", () => {
    expect(cursorOf("task.1", 37)).toBe("11.task.1");
    expect(journalPositionOf("11.task.1", 256)).toEqual({ taskId: "task.1", seq: 37 });
  });

  test.each(["", ".", "1", "1.", ".t", "0.t", "-1.t", "A.t", "1 .t", "zzzzzzzzzzz.t"])("refuses %j", (cursor) => {
    expect(refusedOr(() => journalPositionOf(cursor, 256))).toBe("refused");
  });

  test("accepts any text safely", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const got = refusedOr(() => journalPositionOf(text, 256));
        return got === "refused" || (got.seq >= 1 && text.endsWith(got.taskId));
      }),
    );
  });
});

describe("pageEndOf()", () => {
  test("reads the output of pageTokenOf(); an empty one is the first page", () => {
    expect(pageTokenOf({ at: 12, id: "t.1" })).toBe("12.t.1");
    expect(pageEndOf("12.t.1")).toEqual({ at: 12, id: "t.1" });
    expect([pageEndOf(undefined), pageEndOf("")]).toEqual([undefined, undefined]);
  });

  test("accepts any text safely", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (text) => {
        const got = refusedOr(() => pageEndOf(text));
        return got === "refused" || (got !== undefined && Number.isFinite(got.at) && got.id.length > 0);
      }),
    );
    expect(refusedOr(() => pageEndOf(`1.${"x".repeat(300)}`))).toBe("refused");
  });
});

describe("byStatusTime()", () => {
  test("newest first, then by id", () => {
    const tasks = [
      { at: 1, id: "b" },
      { at: 2, id: "c" },
      { at: 1, id: "a" },
    ];
    expect(tasks.sort(byStatusTime).map(({ id }) => id)).toEqual(["c", "a", "b"]);
  });
});
