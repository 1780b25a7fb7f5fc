import { expect, it } from "vitest";
import { type JudgedAnswer, summariseVotes } from "./judgements.js";

const vote = (is_correct: boolean, quality_score: number) => ({ is_correct, quality_score, reasoning: "" });
const answer = (arm: string, isCorrect: boolean, votes: JudgedAnswer["votes"]): JudgedAnswer => ({
  run: "r",
  arm,
  condition: "c",
  task_id: "L1-Q1",
  seq: 0,
  rule: { is_correct: isCorrect, quality_score: isCorrect ? 5 : 2 },
  evidence: "log",
  votes,
});

// Computed by hand. Majorities: a right, a right, b wrong, b (tie with an unreadable vote) wrong.
it("counts majorities, quality and agreement", () => {
  const { arms, agreement, unreadable } = summariseVotes([
    answer("a", true, [vote(true, 5), vote(true, 5), vote(true, 4)]),
    answer("a", false, [vote(true, 3), vote(true, 3), vote(false, 2)]),
    answer("b", false, [vote(false, 1), vote(false, 1), vote(false, 1)]),
    answer("b", true, [vote(true, 4), null, vote(false, 2)]),
  ]);
  expect(
    arms.map(({ arm, answers, correct, quality, ruleCorrect }) => ({ arm, answers, correct, quality, ruleCorrect })),
  ).toEqual([
    { arm: "a", answers: 2, correct: 2, quality: 22 / 6, ruleCorrect: 1 },
    { arm: "b", answers: 2, correct: 0, quality: 9 / 5, ruleCorrect: 1 },
  ]);
  expect(unreadable).toBe(1);
  // Of the three whole ones two are unanimous, and the majority agrees with the rule about two.
  expect(agreement.repeats).toBeCloseTo(2 / 3, 12);
  expect(agreement.rule).toBeCloseTo(2 / 3, 12);
  // Fleiss: mean agreement (1 + 1/3 + 1) / 3 = 7/9; by chance (5/9)² + (4/9)² = 41/81.
  expect(agreement.repeatsKappa).toBeCloseTo((7 / 9 - 41 / 81) / (1 - 41 / 81), 12);
  // Cohen: observed 2/3; by chance 1/3 · 2/3 + 2/3 · 1/3 = 4/9.
  expect(agreement.ruleKappa).toBeCloseTo((2 / 3 - 4 / 9) / (1 - 4 / 9), 12);
});

it("says nothing about nothing", () => {
  const none = { repeats: null, repeatsKappa: null, rule: null, ruleKappa: null };
  expect(summariseVotes([])).toEqual({ arms: [], unreadable: 0, agreement: none });
});
