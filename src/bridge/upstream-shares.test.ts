import { expect, test } from "vitest";
import { fakeClock } from "../../test/helpers/clock.js";
import { ANONYMOUS, ownerOf } from "../envelope/index.js";
import { UpstreamShares, type WorkEnd } from "./upstream-shares.js";

const MINUTE_MS = 60_000;
const ann = ownerOf("bearer", "ann");

function dropAll(leaves: readonly ((end: WorkEnd) => void)[]): void {
  for (const leave of leaves) leave("unknown");
}

test("one caller has one share over all its tenants", () => {
  const shares = new UpstreamShares(fakeClock(), 2);
  shares.enter(ann);
  const leave = shares.enter(ownerOf("bearer", "ann", "a tenant"));
  expect(shares.refusal(ownerOf("bearer", "ann", "another"))).toMatchObject({ code: "overloaded", facts: { sent: "no" } });
  expect(shares.refusal(ownerOf("bearer", "bob"))).toBe(undefined);
  leave("ended");
  expect(shares.refusal(ann)).toBe(undefined);
});

test("calls with an unknown end take up to half of the share, for ten minutes", async () => {
  const clock = fakeClock();
  const shares = new UpstreamShares(clock, 4);
  dropAll(Array.from({ length: 4 }, () => shares.enter(ann)));
  shares.enter(ann);
  expect(shares.refusal(ann)).toBe(undefined);
  shares.enter(ann);
  expect(shares.refusal(ann)?.code).toBe("overloaded");
  await clock.advance(10 * MINUTE_MS);
  expect(shares.refusal(ann)).toBe(undefined);
});

test("a caller that leaves work behind eight times is known for ten minutes", async () => {
  const clock = fakeClock();
  const shares = new UpstreamShares(clock, 100);
  dropAll(Array.from({ length: 7 }, () => shares.enter(ann)));
  expect(shares.leavesWork(ann)).toBe(false);
  dropAll([shares.enter(ann)]);
  expect([shares.leavesWork(ann), shares.leavesWork(ownerOf("bearer", "bob"))]).toEqual([true, false]);
  await clock.advance(10 * MINUTE_MS);
  expect(shares.leavesWork(ann)).toBe(false);
});

test("anonymous callers have no shares, because they cannot be told apart", () => {
  const shares = new UpstreamShares(fakeClock(), 1);
  shares.enter(ANONYMOUS.owner)("unknown");
  shares.enter(ANONYMOUS.owner);
  expect(shares.refusal(ANONYMOUS.owner)).toBe(undefined);
});
