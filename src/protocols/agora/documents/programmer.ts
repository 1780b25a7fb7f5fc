import { AgentError, type Cancel, type JsonObject } from "../../../envelope/index.js";
import type { KnownDocument } from "./library.js";

/** A program that answers by a document, without a model: the body of a message in, the body of the reply out. */
export interface Routine {
  run(body: string, memory: JsonObject, cancel: Cancel): Promise<{ readonly body: string; readonly memory: JsonObject }>;
}

/**
 * Writes routines for frequently used documents. Koine includes none and never runs code received from a peer: an implementation
 * decides how its routines are made and where they run.
 */
export interface Programmer {
  write(document: KnownDocument, cancel: Cancel): Promise<Routine>;
}

/** The default programmer: writes no routines. */
export const NO_PROGRAMMER: Programmer = Object.freeze({
  write: async () => {
    throw new AgentError("unsupported", "no programmer is configured: routines are registered in code, not generated");
  },
});
