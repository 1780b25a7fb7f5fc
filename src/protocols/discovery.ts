import type { AgentError, Card } from "../envelope/index.js";
import { withoutTrailingSlashes } from "../transport/address-parts.js";
import type { Peer } from "./protocol.js";

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

/** Whether a peer answered that it cannot answer now, which says nothing about its protocols. Connection errors have a cause. */
export function isBusy({ code, facts }: AgentError): boolean {
  return (code === "unavailable" || code === "overloaded") && facts.cause === undefined;
}

/** Whether a card was found above the requested URL and none of its interfaces has that URL. */
export function isWider(url: string, document: string, peers: readonly Peer[]): boolean {
  const address = withoutTrailingSlashes(url);
  return document !== address && !document.startsWith(`${address}/`) && peers.every((peer) => peer.url !== address);
}
