import type { Protocol } from "./protocol.js";
import * as registry from "./registry.js";

/** Every registered protocol, in alphabetical order of export name: fixed by the language, not by who edited last. */
export const protocols: readonly Protocol[] = Object.values(registry) satisfies readonly Protocol[];
