import { AgentError } from "../envelope/index.js";
import type { Admission } from "./admission.js";
import { didSignatures } from "./signatures/index.js";

/**
 * Admits callers that prove one of these DIDs inside the protocol they speak. Signatures over request heads are not looked at: a server
 * that has just started cannot accept them, because it does not know what the process before it has accepted. `refusal` is what others
 * are told.
 */
export function provedDids(dids: readonly string[], refusal: string): Admission {
  const refuse = (): never => {
    throw new AgentError("unauthenticated", refusal);
  };
  const { identify = refuse } = didSignatures({ dids });
  return Object.assign(refuse, { identify, claims: () => false, accepts: "a DID that is proved inside the protocol" });
}
