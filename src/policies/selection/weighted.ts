import { choose, type Selector, sortedBy, weightOf } from "./selector.js";

/** Options of `weighted`. */
export interface WeightedOptions {
  /** A number from 0 up to 1. */
  readonly random: () => number;
}

/**
 * Spreads messages in proportion to the weights, independent of history. The whole order is drawn: when the first
 * destination fails, its share is divided among the others by their weights.
 */
export function weighted({ random }: WeightedOptions): Selector {
  return {
    name: "weighted",
    order: (usable, operation) =>
      choose(usable, operation, (able) => ({
        // Arrival times of independent processes: the first arrival is drawn by weight, and so is each place after it.
        order: sortedBy(able, (each) => -Math.log(1 - random()) / weightOf(each)),
        because: "drawn by weight",
      })),
  };
}
