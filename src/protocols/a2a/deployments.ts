import type { Deployments } from "../deployment.js";

export const deployments: Deployments = {
  minimal: {
    transport: "clear",
    callers: "anonymous",
    messages: "plain",
    signedCards: false,
    because: "one machine; the specification demands HTTPS in production",
  },
  recommended: {
    transport: "tls",
    callers: "bearer",
    messages: "plain",
    signedCards: true,
    because: "HTTPS and credentials in HTTP headers (A2A 1.0 §7), signed cards (§8.4)",
  },
};
