import { choose, type Selector } from "./selector.js";

/**
 * The order of the configuration: the first that fits gets the message, the others are there for when it fails. Promises
 * that equal messages go to the same place; spreads nothing.
 */
export function firstMatch(): Selector {
  return {
    name: "first-match",
    order: (usable, operation) => choose(usable, operation, (able) => ({ order: able, because: "the first in order that fits" })),
  };
}
