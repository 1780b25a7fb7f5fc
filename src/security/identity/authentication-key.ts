import { AgentError, type Cancel, type Maybe } from "../../envelope/index.js";
import { didOfUrl } from "./did.js";
import type { PublicKey } from "./identity.js";
import type { Resolver } from "./resolver.js";

/** Finds the key of a peer. A document is resolved for every proof, because keys are revoked. */
export interface PeerKeySource {
  readonly resolver: Resolver;
  now(): number;
  readonly cancel: Cancel;
}

/**
 * A key that a DID document lists for authentication. Undefined: the document has none of that name, or is out of use. Throws
 * `identity_unresolved` if the document cannot be had.
 */
export async function authenticationKey(keyId: string, { resolver, now, cancel }: PeerKeySource): Promise<Maybe<PublicKey>> {
  const did = didOfUrl(keyId);
  const { document } = await resolver.resolve(did, cancel).catch((thrown: unknown) => {
    throw unresolved(thrown, did);
  });
  const isOver = document.deactivated || (document.expires !== undefined && document.expires <= now());
  if (isOver) return undefined;
  const key = document.keys.find(({ id, uses }) => id === keyId && uses.includes("authentication"));
  return key === undefined || (key.expires !== undefined && key.expires <= now()) ? undefined : key;
}

/** Busy is not the peer's fault; anything else means that the DID proves nothing. */
function unresolved(thrown: unknown, did: string): AgentError {
  const error = AgentError.from(thrown);
  if (error.code === "unavailable" && error.facts.retryAfterMs !== undefined) return error;
  return new AgentError("identity_unresolved", `${did.slice(0, 200)} cannot be resolved: ${error.message}`, {
    detail: { ...error.facts.detail, did: did.slice(0, 200) },
    cause: error,
  });
}
