import { AgentError, ERRORS, type ErrorCode } from "../../src/envelope/index.js";

/** The toy uses Koine error codes; anything else is a fault of the peer. */
export function decodeToyError(wrong: string, why: string): AgentError {
  return Object.hasOwn(ERRORS, wrong)
    ? new AgentError(wrong as ErrorCode, why)
    : new AgentError("bad_peer", `the peer says ${wrong}: ${why}`);
}
