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
    because: "the specification expects HTTPS; protocol documents are verified by their hash",
  },
};
