import type { Records } from "../envelope/index.js";

/** Where a new identity is found by those who know its DID. */
export interface IdentityRegistration {
  /** Where its agent is; empty for one that is not called. */
  readonly endpoint: string;
  /** The protocol's own records, which its peers read, too. */
  readonly records: Records;
}

/** Makes an identity file and registers the identity. */
export type CreateIdentity = (file: string, registration: IdentityRegistration) => Promise<void>;
