import type { Cancel, Maybe } from "../../envelope/index.js";
import type { AddressClass } from "../address.js";
import type { DidDocument } from "./did-document.js";

/** A document, and when it was read from its source. */
export interface ResolvedDid {
  readonly document: DidDocument;
  /** Milliseconds since the epoch. */
  readonly observedAt: number;
  /** The class of the address that it came from: the addresses in it may not be more private. Default: public. */
  readonly from?: Maybe<AddressClass>;
}

/** The document that is in use of a DID. */
export interface CurrentDid extends ResolvedDid {
  /** The DIDs that it replaced, the requested one first. Empty: the requested one is in use. */
  readonly former: readonly string[];
}

/** Finds the documents of DIDs. */
export interface Resolver {
  /** Throws AgentError: `not_found`, `unavailable`, `bad_peer` for an invalid document, `unsupported` for an unknown method. */
  resolve(did: string, cancel: Cancel): Promise<ResolvedDid>;
  /**
   * The document in use: that of the last successor, if every DID of the chain proves the next one. Throws like `resolve`, and `bad_peer` for
   * a DID that is out of use without a proven successor, for a loop and for a chain that is too long. Absent: successors are not followed.
   */
  resolveCurrent?(did: string, cancel: Cancel): Promise<CurrentDid>;
  /** Drops what is cached about a DID, for example because a key of it was revoked. */
  forget(did: string): void;
  /** The same for a caller that is not authenticated yet, with limits of its own. Absent: there are none. */
  forCaller?(caller: string): Resolver;
  /** Releases what its methods hold beyond a resolution. Called by who made it. */
  close?(): Promise<void>;
}
