import { AgentError, type Maybe, type Records } from "../envelope/index.js";
import { didMethodsOf, type ProtocolSettings } from "../protocols/did-methods.js";
import type { HostParts } from "../protocols/host.js";
import type { Contribution, Protocol } from "../protocols/protocol.js";
import {
  type AddressClass,
  type CardSigner,
  createResolver,
  didDocumentOf,
  didWebOf,
  type Identity,
  type Resolver,
} from "../security/index.js";

/** Where the document of a did:web is, below the public address. */
const WELL_KNOWN = "/.well-known/did.json";
const BELOW_PATH = "/did.json";

/** Options of a host that concern its identity and those of its callers. */
export interface IdentityOptions {
  /**
   * The identity of this server. It is given to the protocols that sign or seal; if its DID is the did:web of `publicUrl`, its DID
   * document is published. Default: none.
   */
  readonly identity?: Maybe<Identity>;
  /** Finds the documents of callers' DIDs. Default: did:key, did:web and the methods of the protocols, not inside this network. */
  readonly resolver?: Resolver;
}

/** The parts of a host for these options. */
export function identityParts(
  {
    identity,
    resolver,
    publicUrl,
    followTo,
    settings,
  }: IdentityOptions & {
    readonly publicUrl?: string;
    readonly followTo?: readonly string[];
    readonly settings?: ProtocolSettings;
  },
  protocols: readonly Protocol[],
  { from, now, records }: { from(): AddressClass; now(): number; readonly records: Records },
): Pick<HostParts, "identity" | "resolver" | "contributions"> {
  const methods = didMethodsOf(protocols, settings, records);
  return {
    identity,
    resolver: resolver ?? createResolver({ methods, from, allow: followTo, now }),
    contributions: identityDocuments(identity, publicUrl, protocols),
  };
}

/**
 * The DID document of a server whose DID is the did:web of its public address. An identity that nothing on this server can use is a
 * mistake, so that it is refused.
 */
function identityDocuments(
  identity: Maybe<Identity>,
  publicUrl: Maybe<string>,
  protocols: readonly Protocol[],
): readonly Contribution[] {
  if (identity === undefined) return [];
  checkIdentityUse(identity, publicUrl, protocols);
  return publicUrl === undefined || didWebOf(publicUrl) !== identity.did ? [] : [documentAt(publicUrl, identity)];
}

/** Throws `invalid_message` for an identity that is neither published at the public address nor used by a protocol. */
export function checkIdentityUse({ did }: Identity, publicUrl: Maybe<string>, protocols: readonly Protocol[]): void {
  const own = publicUrl === undefined ? undefined : didWebOf(publicUrl);
  if (own === did || protocols.some(({ usesIdentity }) => usesIdentity === true)) return;
  const address = own === undefined ? "this server has no publicUrl" : `the DID of ${publicUrl} is ${own}`;
  throw new AgentError(
    "invalid_message",
    `no protocol of this server uses an identity, and it cannot publish ${did}: ${address}`,
    { field: "identity" },
  );
}

function documentAt(publicUrl: string, identity: Identity): Contribution {
  const { did } = identity;
  const url = publicUrl.replace(/\/$/, "");
  return {
    path: new URL(url).pathname === "/" ? WELL_KNOWN : BELOW_PATH,
    vary: [],
    // The keys are read for every request: those that were rotated end at their time.
    members: () => didDocumentOf(identity, [{ id: `${did}#agent`, type: "AgentService", url }]),
  };
}

/** Without `publicUrl` a card names the `Host` of the request: the caller would choose what is signed. */
export function checkSigning(
  { cardKeys = [], publicUrl }: { readonly cardKeys?: readonly CardSigner[]; readonly publicUrl?: string },
  reach: AddressClass,
): void {
  if (cardKeys.length > 0 && publicUrl === undefined && reach !== "loopback")
    throw new AgentError("invalid_message", "signed cards need publicUrl: without it the caller chooses the signed address", {
      field: "publicUrl",
    });
}
