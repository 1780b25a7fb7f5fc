import type { Deployments } from "../deployment.js";

export const deployments: Deployments = {
  minimal: {
    transport: "clear",
    callers: "did",
    messages: "sealed",
    signedCards: false,
    because: "requests are signed by a DID in a registry, and messages sealed; without TLS others see who calls whom",
  },
  recommended: {
    transport: "tls",
    callers: "did",
    messages: "sealed",
    signedCards: true,
    because: "TLS hides who calls whom; a signed card vouches for the DID where an agent is called by its address",
  },
};
