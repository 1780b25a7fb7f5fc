import { AgentError, type Maybe } from "../../../envelope/index.js";
import { createIdentity, type Identity } from "../../../security/identity/index.js";
import type { LegacyKey } from "./hello.js";

const made = new WeakMap<object, Identity>();

/** The P-256 key of an identity that signs now. Undefined if it has none. */
export function legacyKeyOf(identity: Maybe<Identity>): Maybe<LegacyKey> {
  const key = identity?.keys().find(({ kind, uses }) => kind === "P-256" && uses.includes("authentication"));
  return identity === undefined || key === undefined ? undefined : { identity, key };
}

/** The key of a client; without one in its identity it gets one of its own, which proves nothing about who it is. */
export function clientKeyOf(side: { readonly identity: Maybe<Identity> }): LegacyKey {
  const own = made.get(side) ?? createIdentity({ name: "anp-legacy", did: "key", kinds: ["P-256"] });
  made.set(side, own);
  const key = legacyKeyOf(side.identity) ?? legacyKeyOf(own);
  if (key === undefined) throw new AgentError("internal", "a new identity has no key");
  return key;
}

/** The key of a server. Peers know it by its DID, so that it must outlive the process. */
export function serverKeyOf(identity: Maybe<Identity>): LegacyKey {
  const key = legacyKeyOf(identity);
  if (key !== undefined) return key;
  throw new AgentError(
    "invalid_message",
    "anp.legacySession needs an identity with a P-256 key: koine identity create FILE --kind Ed25519 --kind P-256 --did …",
    { field: "legacySession" },
  );
}
