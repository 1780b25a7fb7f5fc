import { AgentError } from "../../../envelope/index.js";
import type { SageErrorName } from "../errors.js";

/** Whether an error is the named one of SAGE: `isSageError(error, "ErrReplayAttack")`. */
export function isSageError(thrown: unknown, name: SageErrorName): thrown is AgentError {
  return thrown instanceof AgentError && (thrown.name === name || thrown.facts.detail?.["error"] === name);
}
