import { expect, test } from "vitest";
import { Slots, type Slotted } from "./slots.js";

const named = (name: string): Slotted & { readonly name: string } => ({ name, slot: undefined });

test("what is removed is gone, and the others stay", () => {
  const slots = new Slots<ReturnType<typeof named>>();
  const [a, b, c, d] = [named("a"), named("b"), named("c"), named("d")];
  const names = () => slots.all.map(({ name }) => name).sort();
  for (const one of [a, b, c, d]) slots.add(one);
  expect([slots.remove(b), slots.remove(b)]).toEqual([true, false]);
  expect(names()).toEqual(["a", "c", "d"]);
  // It has the place of the one that was removed.
  expect(slots.remove(d)).toBe(true);
  expect(names()).toEqual(["a", "c"]);
  slots.add(b);
  for (const one of [c, a, b]) expect(slots.remove(one)).toBe(true);
  expect(slots.all).toEqual([]);
});
