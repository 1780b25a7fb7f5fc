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

/** Finds the documents of DIDs. */
export interface Resolver {
  /** Throws AgentError: `not_found`, `unavailable`, `bad_peer` for an invalid document, `unsupported` for an unknown method. */
  resolve(did: string, cancel: Cancel): Promise<ResolvedDid>;
  /** Drops what is cached about a DID, for example because a key of it was revoked. */
  forget(did: string): void;
  /** The same for a caller that is not authenticated yet, with limits of its own. Absent: there are none. */
  forCaller?(caller: string): Resolver;
}
