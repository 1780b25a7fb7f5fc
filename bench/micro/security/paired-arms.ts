import type { PlacedArm } from "./placed-arm.js";

/** The cost of each arm in one slice that they shared, in the order of the arms. */
export type RunTogether = () => Promise<readonly number[]>;

/**
 * Arms that are measured together: the first of a round runs all of them in one slice, in turns of a few calls, and the others take
 * their share of it. What disturbs the machine disturbs all of them alike, so that their ratio is known better than by slices of their own.
 */
export function pairedArms(section: string, arms: readonly string[], run: RunTogether): readonly PlacedArm[] {
  let left = new Map<string, number>();
  const take = async (arm: string): Promise<number> => {
    if (!left.has(arm)) {
      const costs = await run();
      left = new Map(arms.map((each, index) => [each, costs[index] ?? Number.NaN]));
    }
    const cost = left.get(arm) ?? Number.NaN;
    left.delete(arm);
    return cost;
  };
  return arms.map((arm) => ({ section, arm, measure: async () => ({ cpuUs: await take(arm) }) }));
}
