import type { Card } from "../../../envelope/index.js";

/** Marks the card of a peer that reads what stands beside the body, and gives receipts. */
export const OWN_PEER_URI = "urn:koine:agora:1";

/** True for a peer of ours. Only our own servers promise that a key guards a message, so that is a mark, too. */
export function isOwnPeer({ capabilities }: Card): boolean {
  return capabilities.idempotentSend || capabilities.extensions.some(({ uri }) => uri === OWN_PEER_URI);
}
