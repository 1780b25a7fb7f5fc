import { expect, test } from "vitest";
import { Counts } from "./counts.js";

test("counts each key for itself, whichever was used last", () => {
  const counts = new Counts();
  counts.add("ann", 2);
  counts.add("bob", 5);
  counts.add("ann", 1);
  counts.add("bob", -4);
  expect([counts.of("ann"), counts.of("bob"), counts.of("carl")]).toEqual([3, 1, 0]);
});

test("keeps what counts something, and beside it at most one key", () => {
  const counts = new Counts();
  counts.add("holds", 1);
  for (let caller = 0; caller < 1_000; caller++) {
    counts.add(`caller ${caller}`, 1);
    counts.of("nobody");
    counts.add(`caller ${caller}`, -1);
  }
  expect(counts.size).toBe(2);
  expect([counts.of("holds"), counts.of("caller 999"), counts.of("caller 1")]).toEqual([1, 0, 0]);
});

test("forgets a key that reaches nothing after others were used", () => {
  const counts = new Counts();
  for (const key of ["a", "b", "c"]) counts.add(key, 1);
  for (const key of ["a", "b", "c"]) counts.add(key, -1);
  counts.add("d", 1);
  expect([counts.size, counts.of("a"), counts.of("d")]).toEqual([1, 0, 1]);
});
