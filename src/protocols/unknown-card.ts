import type { Card } from "../envelope/index.js";

/** The stand-in for a peer that says nothing about itself: what its protocol does not promise by itself is not relied on. */
export function unknownCard(url: string, { streaming }: { readonly streaming: boolean }): Card {
  return {
    name: new URL(url).host,
    description: "",
    version: "",
    skills: [],
    inputModes: [],
    outputModes: [],
    capabilities: { streaming, push: false, extended: false, idempotentSend: false, resume: false, extensions: [] },
    security: { schemes: {}, anyOf: [] },
    interfaces: [],
  };
}
