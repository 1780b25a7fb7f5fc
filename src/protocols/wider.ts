import { withoutTrailingSlashes } from "../transport/address-parts.js";
import type { Peer } from "./protocol.js";

/** Whether a card was found above the requested URL and none of its interfaces has that URL. */
export function isWider(url: string, document: string, peers: readonly Peer[]): boolean {
  const address = withoutTrailingSlashes(url);
  return document !== address && !document.startsWith(`${address}/`) && peers.every((peer) => peer.url !== address);
}
