/** Resolves the DIDs of one method, such as `did:web`. */
export interface DidMethod {
  /** The name of the method: `web`. */
  readonly method: string;
  /** The addresses of the services in the DID document, in its order. Throws `not_found`, `unavailable` or `bad_peer`. */
  services(did: string, fetch: FetchUrl): Promise<readonly DidService[]>;
}

/** A service of a DID document. */
export interface DidService {
  readonly type: string;
  readonly url: string;
}

/** Fetches a URL through the outbound guard, without credentials, within the given limits. Throws AgentError. */
export type FetchUrl = (url: string, limits: { readonly bytes: number; readonly timeoutMs: number }) => Promise<Uint8Array>;
