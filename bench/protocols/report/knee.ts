import type { ArmSummary, Condition } from "../result/index.js";

/** One load of an arm: what was offered, what was answered, how long it took. */
export interface LoadPoint {
  readonly condition: string;
  /** Null in a closed loop, where nothing is offered beyond what is answered. */
  readonly offered: number | null;
  readonly throughput: number;
  readonly p95Us: number;
  readonly successRate: number;
}

/** The loads without faults under which an arm was measured, from low to high. */
export function loadPoints(arm: string, conditions: readonly Condition[], arms: readonly ArmSummary[]): readonly LoadPoint[] {
  return conditions
    .flatMap(({ id, load, faults, agents, coordinator }): readonly LoadPoint[] => {
      const metrics = arms.find((each) => each.arm === arm && each.condition === id)?.metrics;
      const [throughput, p95Us] = [metrics?.throughputPerS.mean ?? null, metrics?.p95Us.mean ?? null];
      // Another number of agents, or a killed coordinator, is another system, not another load.
      if (faults.length > 0 || coordinator !== undefined || agents !== undefined || throughput === null || p95Us === null)
        return [];
      const offered = load.loop === "open" ? load.perSecond : null;
      return [{ condition: id, offered, throughput, p95Us, successRate: metrics?.successRate.mean ?? 0 }];
    })
    .sort((a, b) => (a.offered ?? a.throughput) - (b.offered ?? b.throughput));
}

/** Below this share of answered requests a load is too high. */
export const KNEE_ANSWERED = 0.99;
/** The P95 at the knee is at most this many times that at the lowest load. */
export const KNEE_SLOWDOWN = 2;

/**
 * The highest offered load that an arm still carries: nearly all is answered, and P95 has at most doubled since the lowest load.
 * Undefined in a closed loop, and with a single load.
 */
export function kneeOf(points: readonly LoadPoint[]): LoadPoint | undefined {
  const [lowest, ...rest] = points.filter(({ offered }) => offered !== null);
  if (lowest === undefined || rest.length === 0 || lowest.successRate < KNEE_ANSWERED) return undefined;
  let knee = lowest;
  for (const point of rest) {
    if (point.successRate < KNEE_ANSWERED || point.p95Us > KNEE_SLOWDOWN * lowest.p95Us) return knee;
    knee = point;
  }
  return knee;
}
