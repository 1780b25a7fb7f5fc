import type { KnownGaps } from "../run.js";

const NO_DOCUMENT = "the library serves no DID document: whoever runs an agent publishes it elsewhere";
const NO_CHALLENGE = "a DID that cannot be resolved is refused with 401, without a challenge";

/** What both kinds of agents have in common: their verifier is the same. */
const BOTH: KnownGaps = {
  "anp:1.2:did:document": NO_DOCUMENT,
  "anp:1.2:auth:unknown-did": NO_CHALLENGE,
  "anp:1.2:auth:coverage": NO_CHALLENGE,
};

/** Where agents of PyPI `anp` 1.0.7 fall short, each looked at by hand: those of OpenANP. */
export const anp107OpenAnpGaps: KnownGaps = {
  ...BOTH,
  "anp:1.2:description:members": "the description has no securityDefinitions; they are in interface.json",
  "anp:1.2:description:type": "the type is Product",
};

/** Those of FastANP. */
export const anp107FastAnpGaps: KnownGaps = {
  ...BOTH,
  "anp:1.2:rpc:no-method": "takes a missing method for an unknown one",
};
