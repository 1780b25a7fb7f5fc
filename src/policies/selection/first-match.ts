import { choose, type Selector } from "./selector.js";

/** Uses the configured order: the first matching destination gets the message, the others are fallbacks. No load is spread. */
export function firstMatch(): Selector {
  return {
    name: "first-match",
    order: (usable, operation) =>
      choose(usable, operation, (able) => ({ order: able, because: "the first in order that matches" })),
  };
}
