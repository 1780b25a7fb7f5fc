import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sentencesOf } from "./clauses.js";

const sentencesIn = (text: string): readonly string[] => sentencesOf(text).map(({ start, end }) => text.slice(start, end));
const clausesIn = (text: string): readonly string[] =>
  sentencesOf(text).flatMap(({ clauses }) => clauses.map(({ start, end }) => text.slice(start, end)));

describe("sentencesOf()", () => {
  const SENTENCES: readonly (readonly [string, readonly string[]])[] = [
    ["One comes. Two go! Three stay?", ["One comes", "Two go", "Three stay"]],
    ['He said "wait." She did.', ['He said "wait', "She did"]],
    ["Big trees, e.g. oaks, fall. Small ones bend.", ["Big trees, e.g. oaks, fall", "Small ones bend"]],
    ["Version 1.4 of it; then Dr. May calls", ["Version 1.4 of it", "then Dr. May calls"]],
    ["- first line\n- second line\n\nthird", ["first line", "second line", "third"]],
    ["It waits… Then it goes", ["It waits", "Then it goes"]],
    ["No end here", ["No end here"]],
    ["", []],
    ["… \n ?! ", []],
  ];
  for (const [text, expected] of SENTENCES)
    it(`parts ${JSON.stringify(text)}`, () => {
      expect(sentencesIn(text)).toEqual(expected);
    });

  const CLAUSES: readonly (readonly [string, readonly string[]])[] = [
    ["Locks: none", ["Locks", "none"]],
    ["It sends words, but nobody reads them", ["It sends words", "but nobody reads them"]],
    ["It sends words but nobody reads them", ["It sends words", "but nobody reads them"]],
    ["A vote rather than a chat", ["A vote", "rather than a chat"]],
    ["The parts (all of them) move", ["The parts", "all of them", "move"]],
    ["Red, green, blue", ["Red, green, blue"]],
    ["It runs — slowly  -  at night", ["It runs", "slowly", "at night"]],
  ];
  for (const [text, expected] of CLAUSES)
    it(`finds the clauses of ${JSON.stringify(text)}`, () => {
      expect(clausesIn(text)).toEqual(expected);
    });

  it("returns ordered, disjoint stretches within the text, for any text", () => {
    const piece = fc.constantFrom(
      "a",
      "No",
      " ",
      ".",
      ",",
      ";",
      ":",
      "(",
      "]",
      " - ",
      "—",
      "\n",
      "but",
      "e.g.",
      "’",
      "\ud83d",
      "😀",
      "7",
      "%",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const text = pieces.join("");
        let from = 0;
        for (const sentence of sentencesOf(text)) {
          let inside = sentence.start;
          for (const { start, end } of sentence.clauses) {
            expect(start >= inside && end > start && end <= sentence.end).toBe(true);
            inside = end;
          }
          expect(sentence.start >= from && sentence.end <= text.length && sentence.clauses.length > 0).toBe(true);
          from = sentence.end;
        }
        const kept = sentencesIn(text)
          .join("")
          .replace(/[^\p{L}\p{N}]/gu, "");
        expect(kept).toBe(text.replace(/[^\p{L}\p{N}]/gu, ""));
      }),
    );
  });
});
