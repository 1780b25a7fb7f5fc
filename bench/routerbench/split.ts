import type { Case } from "./case.js";
import { sha256 } from "./inputs.js";
import { groupBy } from "./outcome.js";

/** Rules may be tuned on the one half, and are then measured on the other. */
export const HALVES = ["dev", "test"] as const;
export type Half = (typeof HALVES)[number];

/**
 * One half of the cases, in their order. Scenarios with the same level and the same labels are divided evenly, by a hash of seed and id:
 * neither the order in a file nor other scenarios decide which of them go where.
 */
export function halfOf(cases: readonly Case[], half: Half, seed: number): readonly Case[] {
  const strata = [...groupBy(cases, stratumOf)].sort(([a], [b]) => (a < b ? -1 : 1));
  const chosen = new Set<Case>();
  // An odd one out goes to the half that got fewer so far.
  let turn = 0;
  for (const [, members] of strata)
    for (const each of members.toSorted((a, b) => (keyOf(a, seed) < keyOf(b, seed) ? -1 : 1)))
      if (HALVES[turn++ % HALVES.length] === half) chosen.add(each);
  return cases.filter((each) => chosen.has(each));
}

function stratumOf({ file, scenario, modules }: Case): string {
  return JSON.stringify([file, scenario.level ?? null, modules.map(({ label }) => label).sort()]);
}

function keyOf({ file, scenario }: Case, seed: number): string {
  return sha256(JSON.stringify([seed, file, scenario.id]));
}
