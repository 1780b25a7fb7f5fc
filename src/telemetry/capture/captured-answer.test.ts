import { describe, expect, it } from "vitest";
import { PREVIEW_CHARS, preview } from "./captured-answer.js";

describe("preview()", () => {
  it("is its beginning, on one line", () => {
    expect(preview("one\n  two")).toBe("one two");
    expect(preview("a".repeat(PREVIEW_CHARS + 9))).toBe(`${"a".repeat(PREVIEW_CHARS)}…`);
  });

  it("contains no secret of JSON, also where the text is cut within it", () => {
    const secret = "hunter2".repeat(60);
    expect(preview(`{"user":"me","password":"${secret}"}`)).toBe('{"user":"me","password":"…"');
    expect(preview('call it with {"api_key": "hunter2", "q": 1}')).toBe('call it with {"api_key": "…", "q": 1}');
  });
});
