import { encodeSegment, withoutTrailingSlashes } from "../../../transport/address-parts.js";

/** The message endpoint of Koine servers and of the seed. Conversations and documents have sibling paths. */
const KOINE_ENTRY = "/agora";

/** The base URL of a peer, without a trailing slash. */
export function baseOf(url: string): string {
  const bare = withoutTrailingSlashes(url.split(/[?#]/, 1)[0] ?? "");
  return bare.endsWith(KOINE_ENTRY) ? bare.slice(0, -KOINE_ENTRY.length) : bare;
}

/** The URL for first messages: the address itself. Servers of the Python library use the root of their host. */
export function entryOf(url: string): string {
  return /^[a-z]+:\/\/[^/]+$/i.test(url) ? `${url}/` : url;
}

/** The default message endpoint of a Koine peer whose discovery document names none. */
export function koineEntryBelow(base: string): string {
  return base + KOINE_ENTRY;
}

export function conversationAt(url: string, conversationId: string): string {
  return `${baseOf(url)}/conversations/${encodeSegment(conversationId, "conversationId")}`;
}
