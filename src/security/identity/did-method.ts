import type { Maybe } from "../../envelope/index.js";
import type { DidDocument } from "./did-document.js";

/** Fetches a URL through the outbound guard, without credentials, within the given limits. Throws AgentError. */
export type FetchUrl = (url: string, limits: { readonly bytes: number; readonly timeoutMs: number }) => Promise<Uint8Array>;

/** Resolves the DIDs of one method, such as `did:web`. */
export interface DidMethod {
  /** The name of the method: `web`. */
  readonly method: string;
  /** How long a document may be used before it is read again, if that is less than the resolver allows. 0: it is not cached. */
  readonly cacheMs?: Maybe<number>;
  /** A peer called by such a DID is called by the protocol of this method alone: others do not prove the DID. Default: by any. */
  readonly exclusive?: Maybe<boolean>;
  /**
   * The document of a DID, read from its source: `readDidDocument` checks its form, the method checks its proof. `fetch` follows no
   * redirects. Throws `not_found`, `unavailable` or `bad_peer`.
   */
  resolve(did: string, fetch: FetchUrl, now: number): Promise<DidDocument>;
  /**
   * Checks that a DID out of use itself named its successor: whoever publishes documents must not be able to. Throws `bad_peer`. Absent:
   * successors of this method are not followed.
   */
  checkSuccessor?(document: DidDocument, successor: string, now: number): void;
  /** Releases what outlives a resolution: connections, timers. */
  close?(): Promise<void>;
}
