import { fetchPart, readUrlPart } from "../artifacts/index.js";
import { AgentError, cancelFrom, type Part } from "../envelope/index.js";
import type { Host } from "../protocols/protocol.js";
import { type AddressClass, createGuard, pinnedLookup, resolveByDns } from "../security/index.js";
import type { FetchPart, ReadPart } from "../tasks/index.js";
import { poolLink } from "../transport/node/index.js";

type UrlPart = Part & { readonly kind: "url" };

/** Follows links in messages from an address of this class, never to a more private one. */
export function followLinks(from: AddressClass, allow?: readonly string[]): FetchPart {
  return (part, signal) => fetchPart(part, following(from, allow, signal));
}

/** Streams what links in messages point to, through the same guard. */
export function streamLinks(from: AddressClass, allow?: readonly string[]): ReadPart {
  return (part: UrlPart, signal) => readUrlPart(part, following(from, allow, signal));
}

/** Fetches a URL through the same guard, with a limit of bytes and of time. */
export function followUrls(from: AddressClass, allow?: readonly string[]): Host["follow"] {
  return async (url, { bytes, timeoutMs }) => {
    const limits = { artifactBytes: bytes, pieceBytes: bytes };
    const part = await fetchPart({ kind: "url", url }, { ...following(from, allow, AbortSignal.timeout(timeoutMs)), limits });
    if (part.kind !== "raw") throw new AgentError("internal", "a fetched URL did not yield bytes");
    return part.bytes;
  };
}

function following(from: AddressClass, allow: readonly string[] | undefined, signal: AbortSignal) {
  return {
    guard: createGuard({ from, allow, resolve: resolveByDns }),
    linkTo: (target: Parameters<typeof pinnedLookup>[0]) => poolLink({ lookup: pinnedLookup(target) }),
    cancel: cancelFrom(signal),
  };
}
