import { AgentError } from "../../src/index.js";

/** Throws an error with the message if the condition is false. */
export function ensure(condition: boolean, message: string): void {
  if (!condition) throw new AgentError("bad_peer", message);
}
