import { expect, it } from "vitest";
import { MarkTable, UNKNOWN } from "./mark-table.js";

const table = new MarkTable(["vote", "vote on", "vote _ it", "^vote", "signa*", "on vote"]);
const [vote, on, it_] = ["vote", "on", "it"].map((word) => table.numberOf(word)) as [number, number, number];

it("finds a feature at its place in the model", () => {
  expect([table.one(vote), table.two(vote, on, 1), table.two(vote, it_, 2)]).toEqual([0, 1, 2]);
  expect([table.first(vote), table.beginning("signa"), table.two(on, vote, 1)]).toEqual([3, 4, 5]);
});

it("tells what the model does not have, in words that it knows and in others", () => {
  const other = table.numberOf("ballot");
  expect(other).toBe(UNKNOWN);
  expect([table.one(on), table.one(other), table.first(on), table.beginning("vote")]).toEqual(Array(4).fill(UNKNOWN));
  expect([table.two(vote, on, 2), table.two(vote, it_, 1), table.two(other, vote, 1)]).toEqual(Array(3).fill(UNKNOWN));
});
