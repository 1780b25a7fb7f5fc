import { expect, it } from "vitest";
import { MarkTable, UNKNOWN } from "./mark-table.js";

/** "vote" and "poll" alone, "^vote", "signa*", "vote on", "on vote", "vote _ it". */
const table = new MarkTable({
  words: "vote|poll|on|it",
  ones: 2,
  firsts: [0],
  beginnings: "signa",
  pairs: [0, 2, 2, 0],
  apart: [0, 3],
});
const [vote, on, it_] = ["vote", "on", "it"].map((word) => table.numberOf(word)) as [number, number, number];

it("finds a feature at its place in the model", () => {
  expect([table.one(vote), table.one(table.numberOf("poll")), table.first(vote), table.beginning("signa")]).toEqual([0, 1, 2, 3]);
  expect([table.two(vote, on, 1), table.two(on, vote, 1), table.two(vote, it_, 2)]).toEqual([4, 5, 6]);
  expect(table.size).toBe(7);
});

it("tells what the model does not have, in words that it knows and in others", () => {
  const other = table.numberOf("ballot");
  expect(other).toBe(UNKNOWN);
  expect([table.one(on), table.one(other), table.first(on), table.beginning("vote")]).toEqual(Array(4).fill(UNKNOWN));
  expect([table.two(vote, on, 2), table.two(vote, it_, 1), table.two(other, vote, 1)]).toEqual(Array(3).fill(UNKNOWN));
});

it("holds nothing of an empty model", () => {
  const empty = new MarkTable({ words: "", ones: 0, firsts: [], beginnings: "", pairs: [], apart: [] });
  expect([empty.size, empty.numberOf(""), empty.beginning(""), empty.two(0, 0, 1)]).toEqual([0, UNKNOWN, UNKNOWN, UNKNOWN]);
});
