import type { Deployments } from "../deployment.js";

export const deployments: Deployments = {
  minimal: {
    transport: "clear",
    callers: "anonymous",
    messages: "plain",
    signedCards: false,
    because: "one machine; the specification has no authentication",
  },
  recommended: {
    transport: "tls",
    callers: "bearer",
    messages: "plain",
    signedCards: false,
    because: "its documentation suggests TLS and bearer tokens; manifests have no signature",
  },
};
