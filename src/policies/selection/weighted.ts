import { choose, type Selector, sortedBy, weightOf } from "./selector.js";

export interface WeightedOptions {
  /** From 0 up to, and without, 1. */
  readonly random: () => number;
}

/**
 * Each gets a share of the messages in proportion to its weight, whatever happened before. The whole order is drawn, not
 * only its head: when the first fails, its share is divided among the others by their weights and does not fall on one.
 */
export function weighted({ random }: WeightedOptions): Selector {
  return {
    name: "weighted",
    order: (usable, operation) =>
      choose(usable, operation, (able) => ({
        // Waiting times of independent arrivals: who arrives first is drawn by weight, and so is each place behind it.
        order: sortedBy(able, (each) => -Math.log(1 - random()) / weightOf(each)),
        because: "drawn by weight",
      })),
  };
}
