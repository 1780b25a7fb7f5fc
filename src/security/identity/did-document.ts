import type { Maybe } from "../../envelope/index.js";
import type { PublicKey } from "./identity.js";

/** A service of a DID document. */
export interface DidService {
  readonly id: string;
  readonly type: string;
  readonly url: string;
}

/** A DID document as far as Koine uses it. */
export interface DidDocument {
  readonly id: string;
  /** The valid keys. */
  readonly keys: readonly PublicKey[];
  readonly services: readonly DidService[];
  /** The DID is out of use: none of its keys proves anything. */
  readonly deactivated: boolean;
  /** The DID that follows a deactivated one. A hint: `Resolver.resolveCurrent` verifies it. */
  readonly successor: Maybe<string>;
  /** Not valid from this time on, in milliseconds since the epoch. */
  readonly expires?: Maybe<number>;
  /** The document as received, for proofs over it. */
  readonly bytes: Uint8Array;
}
