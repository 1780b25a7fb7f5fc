import { expect, it } from "vitest";
import { cohenKappa, fleissKappa } from "./agreement.js";

const times = (count: number, category: string): string[] => Array.from({ length: count }, () => category);

// The worked example of the usual reference for the statistic: 10 subjects, 14 raters, 5 categories; kappa is 0.210.
it("gives Fleiss' kappa of the published example", () => {
  const counts = [
    [0, 0, 0, 0, 14],
    [0, 2, 6, 4, 2],
    [0, 0, 3, 5, 6],
    [0, 3, 9, 2, 0],
    [2, 2, 8, 1, 1],
    [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0],
    [2, 5, 3, 2, 2],
    [6, 5, 2, 1, 0],
    [0, 2, 2, 3, 7],
  ];
  const ratings = counts.map((row) => row.flatMap((count, category) => times(count, String(category))));
  expect(fleissKappa(ratings)).toBeCloseTo(0.21, 3);
});

// 50 proposals, two readers: both yes 20, both no 15, 5 and 10 in dispute. Observed 0.7, by chance 0.5: kappa is 0.4.
it("gives Cohen's kappa of the published example", () => {
  const pairs = [
    ...times(20, "yes").map((each) => [each, "yes"] as const),
    ...times(5, "yes").map((each) => [each, "no"] as const),
    ...times(10, "no").map((each) => [each, "yes"] as const),
    ...times(15, "no").map((each) => [each, "no"] as const),
  ];
  expect(cohenKappa(pairs)).toBeCloseTo(0.4, 12);
});

it("says nothing where chance alone agrees always, or nothing was rated", () => {
  expect(fleissKappa([["a", "a"]])).toBeUndefined();
  expect(fleissKappa([["a"], ["b"]])).toBeUndefined();
  expect(cohenKappa([["a", "a"]])).toBeUndefined();
  expect(cohenKappa([])).toBeUndefined();
  expect(() => fleissKappa([["a", "b"], ["a"]])).toThrow("same number");
});
