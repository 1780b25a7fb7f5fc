import { describe, expect, it } from "vitest";
import { foldCase } from "./fold-case.js";

describe("foldCase()", () => {
  it("finds with small letters what an expression that ignores case finds", () => {
    const differs = (character: string): boolean =>
      /^[a-z]$/u.test(foldCase(character)) !== /^[a-z]$/iu.test(character) ||
      /^\w$/u.test(foldCase(character)) !== /^\w$/iu.test(character);
    expect(Array.from({ length: 0x10000 }, (_, code) => String.fromCharCode(code)).filter(differs)).toEqual([]);
  });

  it("leaves each character in its place, whatever the language", () => {
    for (const text of ["Needs NO Votes", "İSTANBUL Needs ẞ", "𝒜 NOT 😀 \u212aeep \u017ftatus", ""])
      expect(foldCase(text)).toHaveLength(text.length);
    expect(foldCase("İ NOT \u212aeep \u017ftatus")).toBe("İ not keep status");
  });
});
