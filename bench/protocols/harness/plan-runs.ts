import { chance, shuffled } from "../../harness/chance.js";
import type { Arm, Condition, PlannedRun, Settings } from "../result/index.js";

/** Above it agents share processes. */
export const MAX_AGENT_PROCESSES = 32;
const SHARED_PROCESSES = 8;
/** Between the seeds of neighbouring blocks. */
const SEED_STEP = 7_919;

/** Randomised blocks: each has every arm under every condition once, in an order of its own. Arms of a block share a seed. */
export function planRuns(
  { runs, seed }: Pick<Settings, "runs" | "seed">,
  arms: readonly Arm[],
  conditions: readonly Condition[],
): PlannedRun[] {
  const random = chance(seed);
  return Array.from({ length: runs }, () =>
    shuffled(conditions, random).flatMap((condition) =>
      shuffled(arms, random).map((arm) => ({ arm: arm.id, condition: condition.id })),
    ),
  ).flatMap((order, block) =>
    order.map(({ arm, condition }, position) => ({
      run: `b${String(block + 1).padStart(2, "0")}-${String(position + 1).padStart(2, "0")}`,
      block,
      position,
      arm,
      condition,
      seed: (seed + (block + 1) * SEED_STEP) >>> 0,
    })),
  );
}

/** A longer warm-up than so many times that of the settings would take longer than what it prepares. */
const MOST_WARM_UPS = 8;

/** More agents share the same traffic: the warm-up is longer by as much, so that each of them gets as many messages before the window. */
export function warmUpMsOf(
  { warmUpMs, agents }: Pick<Settings, "warmUpMs" | "agents">,
  { agents: more = agents }: Condition,
): number {
  return warmUpMs * Math.min(MOST_WARM_UPS, Math.max(1, more / agents));
}

/** The agents of each process: one each up to 32, then at most eight processes for all. */
export function placeAgents(count: number): readonly (readonly string[])[] {
  const names = Array.from({ length: count }, (_, index) => `agent-${index + 1}`);
  if (count <= MAX_AGENT_PROCESSES) return names.map((name) => [name]);
  return Array.from({ length: SHARED_PROCESSES }, (_, process) =>
    names.filter((_name, index) => index % SHARED_PROCESSES === process),
  );
}
