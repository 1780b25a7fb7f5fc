import { describe, expect, it } from "vitest";
import { judge, normalise, tokenF1 } from "./judge.js";

const DONE = { planned: 4, completed: 4, flawed: 0 } as const;

describe("an answer", () => {
  it.each([
    ["1,200.50 crowns", "1200.5"],
    ["The  Ada Cray.", "ada cray"],
    ["-40", "-40.00"],
    ["£1,234,567", "1234567"],
  ])("is the same in another form: %j and %j", (given, reference) => {
    expect(judge(reference, { ...DONE, answer: given }).is_correct).toBe(true);
  });

  it.each([
    ["1200.51", "1200.5"],
    ["40", "-40"],
    ["1,20", "120"],
    ["Ada", "Ada Cray"],
    ["unknown", "0"],
    ["", "a"],
  ])("is another: %j and %j", (given, reference) => {
    expect(judge(reference, { ...DONE, answer: given }).is_correct).toBe(false);
  });

  it("keeps what distinguishes words", () => {
    expect(normalise("Port of Brisk-on-Sea, no. 4")).toBe("port of brisk-on-sea no 4");
  });
});

// Computed by hand: precision and recall over bags of words, as SQuAD's evaluation defines F1.
it.each([
  ["ada cray", "Ada Cray", 1],
  ["Ada", "Ada Cray", 2 / 3],
  ["Ada Ada", "Ada Cray", 0.5],
  ["Bo", "Ada", 0],
  ["", "Ada", 0],
  ["", "", 1],
])("F1 of %j and %j is %d", (given, reference, f1) => {
  expect(tokenF1(given, reference)).toBeCloseTo(f1, 12);
});

it.each([
  [5, { answer: "7", planned: 4, completed: 4, flawed: 0 }],
  [4, { answer: "7", planned: 4, completed: 4, flawed: 1 }],
  [4, { answer: "7", planned: 4, completed: 3, flawed: 0 }],
  [3, { answer: "8", planned: 4, completed: 4, flawed: 0 }],
  [3, { answer: undefined, planned: 4, completed: 4, flawed: 0 }],
  [2, { answer: "unknown", planned: 4, completed: 1, flawed: 0 }],
  [1, { answer: "unknown", planned: 4, completed: 0, flawed: 0 }],
  [1, { answer: undefined, planned: 4, completed: 0, flawed: 2 }],
] as const)("the quality is %d for %j", (quality, work) => {
  expect(judge("7", work).quality_score).toBe(quality);
});
