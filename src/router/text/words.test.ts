import { describe, expect, it } from "vitest";
import { wordsOf } from "./words.js";

const textsOf = (text: string): readonly string[] => wordsOf(text).map((word) => word.text);

describe("wordsOf()", () => {
  it("parts at hyphens, slashes and marks, not at apostrophes or points within a number", () => {
    expect(textsOf("End-to-end, read/write; don’t wait 1.5 s.")).toEqual([
      "end",
      "to",
      "end",
      "read",
      "write",
      "don't",
      "wait",
      "1.5",
      "s",
    ]);
  });

  it("has the position of each word in the whole text", () => {
    const text = "“Alpha”  béta 𝒢amma";
    expect(wordsOf(text).map(({ start, end }) => text.slice(start, end))).toEqual(["Alpha", "béta", "𝒢amma"]);
    expect(wordsOf(text, 8, 13).map(({ start, end }) => text.slice(start, end))).toEqual(["béta"]);
  });

  it("finds none without letters", () => {
    expect(textsOf("… — 😀 \ud800 \0")).toEqual([]);
  });

  it("reads a text alike after more words than are kept", () => {
    const before = wordsOf("Signatures of REST resources");
    const many = Array.from({ length: 20_000 }, (_, index) => `Word${index}s`);
    expect(wordsOf(many.join(" ")).map(({ lemma }) => lemma)).toEqual(many.map((_, index) => `word${index}`));
    expect(wordsOf("Signatures of REST resources")).toEqual(before);
  });
});
