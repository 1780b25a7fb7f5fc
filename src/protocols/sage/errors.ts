import { AgentError, type ErrorCode } from "../../envelope/index.js";

/** Why a DID was not resolved, as SAGE names the reasons, with the error code of each. */
const UNRESOLVED = {
  "id.malformed": "invalid_message",
  "id.unknown-kind": "unsupported",
  "record.not-found": "not_found",
  "record.inactive": "not_found",
  "record.invalid": "bad_peer",
  "record.unreachable": "unavailable",
  "record.stale": "unavailable",
  "key.not-in-record": "not_found",
  "key.unproven": "not_found",
  "key.revoked": "not_found",
  "key.expired": "not_found",
} as const satisfies Record<string, ErrorCode>;

export type UnresolvedReason = keyof typeof UNRESOLVED;

/** A DID that was not resolved: `ErrDIDNotResolved`, with the reason in `facts.detail`. There is no answer without a record. */
export class DidNotResolved extends AgentError {
  readonly reason: UnresolvedReason;

  constructor(reason: UnresolvedReason, message: string, cause?: unknown) {
    super(UNRESOLVED[reason], message, { sent: "no", field: "did", detail: { error: "ErrDIDNotResolved", reason }, cause });
    this.name = "ErrDIDNotResolved";
    this.reason = reason;
  }
}

/** Why a registry refuses an operation, as the contract names the reasons, with what each means to a reader. */
const REFUSALS = {
  NotActive: ["conflict", "the agent is not registered, or is deactivated"],
  AlreadyRegistered: ["conflict", "the account has registered an agent; a deactivated one does not come back"],
  AlreadyCommitted: ["conflict", "this registration is committed already; reveal it"],
  NoCommitment: ["conflict", "this registration was not committed by this account"],
  RevealTooSoon: ["conflict", "a commitment is revealed in a later block"],
  RevealTooLate: ["expired", "the commitment is too old; commit again"],
  NoKeys: ["invalid_message", "an agent has at least one key"],
  TooManyKeys: ["too_large", "an agent has at most 64 keys, with those out of use"],
  InvalidName: ["invalid_message", "a key has a name of 1 to 64 letters, digits, dots, dashes and underscores"],
  NameTaken: ["conflict", "the agent had a key of this name; names are not used twice"],
  InvalidKey: ["invalid_message", "the key does not have the form of its kind"],
  InvalidProof: ["bad_signature", "the proof of possession is not by this key, for this name, account and registry"],
  KeyExists: ["conflict", "the agent has or had this key; a revoked key stays revoked"],
  UnknownKey: ["not_found", "the agent has no key of this name"],
  KeyOutOfUse: ["conflict", "the key is out of use"],
  OtherKind: ["invalid_message", "a key is replaced by one of the same kind"],
  OverlapTooLong: ["invalid_message", "a replaced key stays valid for at most 390 seconds"],
  EndpointTooLong: ["too_large", "an endpoint has at most 2048 bytes"],
} as const satisfies Record<string, readonly [ErrorCode, string]>;

export type RefusalReason = keyof typeof REFUSALS;

export function isRefusal(name: string): name is RefusalReason {
  return Object.hasOwn(REFUSALS, name);
}

/** An operation that the registry refused. */
export class RegistryRefusal extends AgentError {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, cause?: unknown) {
    const [code, meaning] = REFUSALS[reason];
    super(code, `the registry refused (${reason}): ${meaning}`, { sent: "no", detail: { reason }, cause });
    this.reason = reason;
  }
}
