import { AgentError, type Cancel, type JsonObject } from "../../../envelope/index.js";
import type { KnownDocument } from "./library.js";

/** A program that answers by a document, without any model: the body of a message in, the body of the reply out. */
export interface Routine {
  run(body: string, memory: JsonObject, cancel: Cancel): Promise<{ readonly body: string; readonly memory: JsonObject }>;
}

/**
 * Writes a routine for a document that is used often. Koine has none of its own, and runs no code that came over a wire:
 * who plugs one in says how its routines are made and where they run.
 */
export interface Programmer {
  write(document: KnownDocument, cancel: Cancel): Promise<Routine>;
}

/** The programmer there is when nobody has configured one. */
export const NO_PROGRAMMER: Programmer = Object.freeze({
  write: async () => {
    throw new AgentError("unsupported", "no programmer is configured: routines are registered in code, not generated");
  },
});
