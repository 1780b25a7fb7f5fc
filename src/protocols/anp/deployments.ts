import type { Deployments } from "../deployment.js";

export const deployments: Deployments = {
  minimal: {
    transport: "clear",
    callers: "anonymous",
    messages: "plain",
    signedCards: false,
    because: "one machine; the specification demands HTTPS and signed requests",
  },
  recommended: {
    transport: "tls",
    callers: "did",
    messages: "signed",
    signedCards: false,
    because: "HTTPS for every DID document (ANP-03), every request signed by a DID (ANP-02); the DID document has the proof",
  },
};
