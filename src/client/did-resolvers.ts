import type { Maybe, Records } from "../envelope/index.js";
import { protocols as registered } from "../protocols/all.js";
import { didMethodsOf, type ProtocolSettings } from "../protocols/did-methods.js";
import type { Protocol } from "../protocols/protocol.js";
import { type AddressClass, createResolver, type Resolver } from "../security/index.js";
import { isLoopbackAddress } from "../transport/loopback.js";

/** What the connections of a process have in common: the resolver of those that agree in it is shared. */
export interface ResolverChoice {
  readonly protocols?: Maybe<readonly Protocol[]>;
  readonly settings?: Maybe<ProtocolSettings>;
  /** The store of the user, which some methods read. */
  readonly records?: Maybe<Records>;
}

type SharedResolvers = WeakMap<readonly Protocol[], Map<string, Resolver>>;
const withoutRecords: SharedResolvers = new WeakMap();
const byRecords = new WeakMap<Records, SharedResolvers>();
/** Resolvers with different settings; a process that makes up more gets new ones. */
const MAX_SHARED = 64;

/** The resolver of all connections with these protocols, settings and records, for documents at such addresses and more public ones. */
export function resolverFor(from: AddressClass, { protocols = registered, settings, records }: ResolverChoice): Resolver {
  const shared = records === undefined ? withoutRecords : (byRecords.get(records) ?? new WeakMap());
  if (records !== undefined) byRecords.set(records, shared);
  const known = shared.get(protocols) ?? new Map<string, Resolver>();
  shared.set(protocols, known);
  const key = JSON.stringify([from, protocols.flatMap(({ id, didMethods }) => (didMethods && settings?.[id]) ?? [])]);
  const resolver = known.get(key) ?? createResolver({ from, methods: didMethodsOf(protocols, settings, records) });
  if (known.size < MAX_SHARED) known.set(key, resolver);
  return resolver;
}

/** Where the documents of DIDs may be that a peer at this address names. */
export function reachOf(address: string): Extract<AddressClass, "loopback" | "public"> {
  const hostname: Maybe<string> = URL.canParse(address) ? new URL(address).hostname.replace(/^\[|\]$/g, "") : undefined;
  return hostname === "localhost" || (hostname !== undefined && isLoopbackAddress(hostname)) ? "loopback" : "public";
}
