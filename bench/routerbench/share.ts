import { wilson } from "../harness/proportions.js";

/** A proportion with its counts and its Wilson 95 % interval. All null if nothing was counted. */
export interface Share {
  readonly hits: number;
  readonly of: number;
  readonly value: number | null;
  readonly low: number | null;
  readonly high: number | null;
}

export function shareOf(hits: number, of: number): Share {
  const [low, high] = wilson(hits, of) ?? [null, null];
  return { hits, of, value: of === 0 ? null : hits / of, low, high };
}
