import { encodeSegment, withoutTrailingSlashes } from "../../../transport/address-parts.js";

/** Where our own servers, and the seed's, take first messages; conversations and documents lie beside it. */
const OWN_ENTRY = "/agora";

/** The address below which everything of a peer lies, without a slash at its end. */
export function baseOf(url: string): string {
  const bare = withoutTrailingSlashes(url.split(/[?#]/, 1)[0] ?? "");
  return bare.endsWith(OWN_ENTRY) ? bare.slice(0, -OWN_ENTRY.length) : bare;
}

/** Where a first message goes: the address as it is, which the library's servers have at the root of their host. */
export function entryOf(url: string): string {
  return /^[a-z]+:\/\/[^/]+$/i.test(url) ? `${url}/` : url;
}

/** Of a peer of ours that does not say it. */
export function ownEntryBelow(base: string): string {
  return base + OWN_ENTRY;
}

export function conversationAt(url: string, conversationId: string): string {
  return `${baseOf(url)}/conversations/${encodeSegment(conversationId, "conversationId")}`;
}
