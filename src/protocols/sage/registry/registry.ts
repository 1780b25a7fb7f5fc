import type { Maybe } from "../../../envelope/index.js";
import type { KeyKind } from "../../../security/identity/index.js";
import type { Account } from "../identity/account.js";
import type { Network } from "../identity/did-sage.js";

/** The kinds of keys in a record. */
export type RegistryKeyKind = Exclude<KeyKind, "P-256">;

/** A key to be registered, with the proof that its registrant has the private half. */
export interface NewKey {
  /** The fragment of the key's DID URL. */
  readonly name: string;
  readonly kind: RegistryKeyKind;
  /** As `PublicKey.bytes`. */
  readonly bytes: Uint8Array;
  readonly proof: Uint8Array;
}

/** A key as the registry has it. The registry has not verified proofs of Ed25519 and X25519 keys. */
export interface RegisteredKey extends NewKey {
  /** Milliseconds since the epoch. */
  readonly addedAt: number;
  /** Not valid from this time on: it was replaced or revoked. */
  readonly endsAt?: Maybe<number>;
  readonly revoked: boolean;
}

/** Where a record was read. */
export type RecordSource =
  | {
      readonly kind: "chain";
      /** The contract, if it is another one than ours. */
      readonly profile?: "agent-card";
      readonly chainId: number;
      readonly registry: string;
      readonly block: number;
    }
  | {
      /** The registry of this deployment, in its own store. No chain vouches for it. */
      readonly kind: "embedded";
      /** The number of the last record in its log. */
      readonly record: number;
    };

/** An agent as the registry has it. */
export interface RegistryRecord {
  readonly account: string;
  readonly state: "active" | "deactivated";
  readonly version: number;
  readonly endpoint: string;
  readonly registeredAt: number;
  readonly updatedAt: number;
  readonly keys: readonly RegisteredKey[];
  readonly source: RecordSource;
}

/** A change of a registry. Each is made by the account of the agent, and only of its own record. */
export type Operation =
  | { readonly kind: "commit"; readonly commitment: string }
  | { readonly kind: "register"; readonly keys: readonly NewKey[]; readonly endpoint: string; readonly salt: string }
  | { readonly kind: "addKey"; readonly key: NewKey }
  | { readonly kind: "rotate"; readonly old: string; readonly key: NewKey; readonly overlapSeconds: number }
  | { readonly kind: "revoke"; readonly name: string }
  | { readonly kind: "setEndpoint"; readonly endpoint: string }
  | { readonly kind: "deactivate" };

/** What proves that an operation was recorded. */
export type Receipt =
  | { readonly kind: "chain"; readonly transaction: string; readonly block: number }
  | { readonly kind: "embedded"; readonly record: number };

/** Changes since a point of the registry's history. */
export interface Changes {
  readonly accounts: readonly string[];
  /** The point up to which these are all. */
  readonly cursor: number;
}

/** A registry that is read. Errors: `DidNotResolved` with `record.unreachable` if it cannot be asked. */
export interface RegistryReader {
  readonly network: Network;
  /** Its id in proofs of possession, so that a proof is good for one registry. */
  readonly id: string;
  /** Loads and connects what `read` needs. What is read is as old as the question, and this takes no part in it. */
  prepare?(): Promise<unknown>;
  /** The record of an account; undefined if it has none. Nothing in it is verified but what the registry itself enforces. */
  read(account: string): Promise<Maybe<RegistryRecord>>;
  /** Whether a proof of possession is valid in this registry. */
  isProven(account: string, key: RegisteredKey): Promise<boolean>;
  /** The accounts whose records changed after `cursor`; without one, the current point and no accounts. */
  changes(cursor?: number): Promise<Changes>;
  close?(): Promise<void>;
}

/** A registry that can be changed. */
export interface Registry extends RegistryReader {
  /** Throws `RegistryRefusal`. Resolves when the operation is recorded. */
  submit(account: Account, operation: Operation): Promise<Receipt>;
  /** The commitment for a registration by this account. */
  commitmentOf(account: string, registration: Extract<Operation, { kind: "register" }>): Promise<string>;
}

/** As the contract enforces them. */
export const REGISTRY_LIMITS = {
  keys: 64,
  nameBytes: 64,
  endpointBytes: 2_048,
  overlapSeconds: 390,
  revealBlocks: 256,
} as const;
