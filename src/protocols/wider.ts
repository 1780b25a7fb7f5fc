import { withoutTrailingSlashes } from "../transport/address-parts.js";
import type { Peer } from "./protocol.js";

/** Whether a document was found at the root of a host for an address below it that neither it nor a peer in it has. */
export function isWider(url: string, document: string, peers: readonly Peer[]): boolean {
  const address = withoutTrailingSlashes(url);
  return document !== address && !document.startsWith(`${address}/`) && peers.every((peer) => peer.url !== address);
}
