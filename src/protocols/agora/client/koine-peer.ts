import type { Card } from "../../../envelope/index.js";

/** Extension URI on the card of a peer that reads Koine metadata and issues receipts. */
export const KOINE_PEER_URI = "urn:koine:agora:1";

/** Whether the peer runs Koine. Only Koine servers declare idempotent sends, so that capability counts too. */
export function isKoinePeer({ capabilities }: Card): boolean {
  return capabilities.idempotentSend || capabilities.extensions.some(({ uri }) => uri === KOINE_PEER_URI);
}
