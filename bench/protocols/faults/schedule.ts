import { chance, shuffled } from "../../harness/chance.js";
import type { PlannedFault } from "../result/index.js";

export interface FaultSchedule {
  readonly kind: PlannedFault["kind"];
  /** Agents, or edges for faults of the network. */
  readonly targets: readonly string[];
  /** The share of the targets that each cycle hits; at least one. */
  readonly fraction: number;
  readonly everyMs: number;
  readonly forMs: number;
  readonly untilMs: number;
  readonly delayMs?: number;
  readonly share?: number;
}

/** The same faults at the same times for the same seed, so that every arm meets the same storm. */
export function scheduleFaults(
  { kind, targets, fraction, everyMs, forMs, untilMs, delayMs, share }: FaultSchedule,
  seed: number,
): PlannedFault[] {
  const random = chance(seed);
  const hit = Math.max(1, Math.round(targets.length * fraction));
  const cycles = Math.max(0, Math.ceil(untilMs / everyMs) - 1);
  return Array.from({ length: cycles }, (_, cycle) =>
    shuffled(targets, random)
      .slice(0, hit)
      .map((target) => ({
        kind,
        target,
        atMs: (cycle + 1) * everyMs,
        forMs,
        ...(delayMs === undefined ? {} : { delayMs }),
        ...(share === undefined ? {} : { share }),
      })),
  ).flat();
}
