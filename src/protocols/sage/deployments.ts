import type { Deployments } from "../deployment.js";

export const deployments: Deployments = {
  minimal: {
    transport: "clear",
    callers: "did",
    messages: "signed",
    signedCards: false,
    because: "every request is signed by a DID in a registry; without TLS others on the way can read it",
  },
  recommended: {
    transport: "tls",
    callers: "did",
    messages: "signed",
    signedCards: true,
    because: "TLS hides what is signed; a signed card vouches for the DID where an agent is called by its address",
  },
};
