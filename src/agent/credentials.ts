import type { Link, Request } from "../transport/exchange.js";
import { makeRequest, splitTarget } from "../transport/request.js";

/** What this edge shows to its peer. Nothing is shared between edges. */
export interface Credentials {
  /** Sent as `Authorization: Bearer …`. */
  readonly bearer?: string;
  /** Any other header, such as an API key. */
  readonly headers?: { readonly [name: string]: string };
}

export function credentialHeaders({ bearer, headers = {} }: Credentials): { readonly [name: string]: string } {
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  return bearer === undefined ? lower : { ...lower, authorization: `Bearer ${bearer}` };
}

/** Adds the credentials to requests for the peer's own origin, and to no other: a card may name any address. */
export function withCredentials(link: Link, url: string, credentials: Credentials): Link {
  const added = credentialHeaders(credentials);
  if (Object.keys(added).length === 0) return link;
  const { origin } = splitTarget(url);
  return {
    ...link,
    exchange(request: Request) {
      if (splitTarget(request.target).origin !== origin) return link.exchange(request);
      const { method, target, headers, body, cancel, connection } = request;
      return link.exchange(makeRequest({ method, url: target, headers: { ...headers, ...added }, body, cancel, connection }));
    },
    close: () => link.close(),
  };
}
