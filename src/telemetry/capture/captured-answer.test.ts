import { describe, expect, it } from "vitest";
import { SHOWN_CHARS, shown } from "./captured-answer.js";

describe("what is shown of a text in lists", () => {
  it("is its beginning, on one line", () => {
    expect(shown("one\n  two")).toBe("one two");
    expect(shown("a".repeat(SHOWN_CHARS + 9))).toBe(`${"a".repeat(SHOWN_CHARS)}…`);
  });

  it("holds no secret that stands in JSON, also where the text is cut within it", () => {
    const secret = "hunter2".repeat(60);
    expect(shown(`{"user":"me","password":"${secret}"}`)).toBe('{"user":"me","password":"…"');
    expect(shown('call it with {"api_key": "hunter2", "q": 1}')).toBe('call it with {"api_key": "…", "q": 1}');
  });
});
