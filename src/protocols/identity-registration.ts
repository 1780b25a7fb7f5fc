import type { JsonObject, Maybe, Records } from "../envelope/index.js";

/** Where a new identity is found by those who know its DID. */
export interface IdentityRegistration {
  /** Where its agent is; empty for one that is not called. */
  readonly endpoint: string;
  /** The protocol's own records, which its peers read, too. */
  readonly records: Records;
  /** The settings of the protocol, which may name another place for it. */
  readonly settings?: Maybe<JsonObject>;
}

/** Makes an identity file and registers the identity. */
export type CreateIdentity = (file: string, registration: IdentityRegistration) => Promise<void>;
