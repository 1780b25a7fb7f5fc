import type { Protocol } from "./protocol.js";
import * as registry from "./registry.js";

/** All registered protocols, in alphabetical order of their export names. */
export const protocols: readonly Protocol[] = Object.entries(registry)
  .sort(([one], [other]) => (one < other ? -1 : 1))
  .map(([, protocol]: readonly [string, Protocol]) => protocol);
