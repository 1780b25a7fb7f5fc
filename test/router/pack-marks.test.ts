import { expect, it } from "vitest";
import { MarkTable } from "../../src/router/evidence/mark-table.js";
import { packMarks } from "../../training/pack-marks.js";

const MARKS = ["^vote", "a vote", "a _ poll", "poll", "signa*", "vote", "vote _ on", "vote on", "vote vote"];

it("keeps every feature, and says where each was", () => {
  const { list, order } = packMarks(MARKS);
  const table = new MarkTable(list);
  const number = (word: string): number => table.numberOf(word);
  const places = [
    table.first(number("vote")),
    table.two(number("a"), number("vote"), 1),
    table.two(number("a"), number("poll"), 2),
    table.one(number("poll")),
    table.beginning("signa"),
    table.one(number("vote")),
    table.two(number("vote"), number("on"), 2),
    table.two(number("vote"), number("on"), 1),
    table.two(number("vote"), number("vote"), 1),
  ];
  expect(places.map((place) => order[place])).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  expect(table.size).toBe(MARKS.length);
});
