import { AgentError } from "../../src/index.js";

/** Throws, in words, what is not as it must be. */
export function mustHold(isSo: boolean, otherwise: string): void {
  if (!isSo) throw new AgentError("bad_peer", otherwise);
}
