import type { Card } from "../envelope/index.js";

/** The placeholder card for a peer without one. Optional capabilities are assumed to be absent. */
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
