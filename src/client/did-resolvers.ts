import type { Maybe } from "../envelope/index.js";
import { protocols as registered } from "../protocols/all.js";
import type { Protocol } from "../protocols/protocol.js";
import { type AddressClass, createResolver, type Resolver } from "../security/index.js";
import { isLoopbackAddress } from "../transport/loopback.js";

const shared = new WeakMap<readonly Protocol[], Map<AddressClass, Resolver>>();

/** The resolver of all connections with these protocols, for documents at such addresses and more public ones. */
export function resolverFor(from: AddressClass, protocols: readonly Protocol[] = registered): Resolver {
  const known = shared.get(protocols) ?? new Map<AddressClass, Resolver>();
  shared.set(protocols, known);
  const resolver = known.get(from) ?? createResolver({ from, methods: protocols.flatMap(({ didMethods = [] }) => didMethods) });
  known.set(from, resolver);
  return resolver;
}

/** Where the documents of DIDs may be that a peer at this address names. */
export function reachOf(address: string): Extract<AddressClass, "loopback" | "public"> {
  const hostname: Maybe<string> = URL.canParse(address) ? new URL(address).hostname.replace(/^\[|\]$/g, "") : undefined;
  return hostname === "localhost" || (hostname !== undefined && isLoopbackAddress(hostname)) ? "loopback" : "public";
}
