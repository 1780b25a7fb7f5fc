import { AgentError, type ErrorCode, type ErrorFacts, type Maybe } from "../../envelope/index.js";
import { SignatureError, type SignatureProblem } from "../../security/signatures/index.js";

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

/** The errors of SAGE by their names, with the code of each. */
const NAMES = {
  ErrInvalidSignature: "bad_signature",
  ErrReplayAttack: "replayed",
  ErrDIDNotResolved: "identity_unresolved",
  ErrSessionExpired: "session_expired",
  ErrInvalidMessage: "invalid_message",
  ErrDowngradeRefused: "downgrade_refused",
  ErrTaskNotFound: "task_not_found",
} as const satisfies Record<string, ErrorCode>;

export type SageErrorName = keyof typeof NAMES;

export function isSageErrorName(name: unknown): name is SageErrorName {
  return typeof name === "string" && Object.hasOwn(NAMES, name);
}

/** Why a message is refused, as SAGE names the reasons, with the error of each. */
const REASONS = {
  "sig.missing": "ErrInvalidSignature",
  "sig.malformed": "ErrInvalidSignature",
  "sig.bad": "ErrInvalidSignature",
  "sig.alg-mismatch": "ErrInvalidSignature",
  "sig.stale": "ErrInvalidSignature",
  "sig.coverage": "ErrInvalidSignature",
  "sig.binding": "ErrInvalidSignature",
  "sig.replay": "ErrReplayAttack",
  "digest.missing": "ErrInvalidSignature",
  "digest.mismatch": "ErrInvalidSignature",
  "key.not-in-record": "ErrInvalidSignature",
  "content.mismatch": "ErrInvalidSignature",
  "size.exceeded": "ErrInvalidMessage",
  "message.malformed": "ErrInvalidMessage",
  "stream.order": "ErrReplayAttack",
  policy_denied: "ErrDowngradeRefused",
} as const satisfies Record<string, SageErrorName>;

export type SageReason = keyof typeof REASONS;

/** A message that is refused. `name` is the error of SAGE, `facts.detail.reason` says why. */
export class SageError extends AgentError {
  readonly reason: Maybe<string>;

  constructor(reason: SageReason, message: string, facts: ErrorFacts = {}) {
    const name = REASONS[reason];
    super(NAMES[name], message, { ...facts, detail: { ...facts.detail, error: name, reason } });
    this.name = name;
    this.reason = reason;
  }
}

/** What a verifier of HTTP signatures found, as SAGE names it. */
const PROBLEMS: { readonly [problem in SignatureProblem]: SageReason } = {
  missing: "sig.missing",
  malformed: "sig.malformed",
  too_large: "size.exceeded",
  ambiguous: "sig.malformed",
  duplicate_label: "sig.malformed",
  duplicate_component: "sig.malformed",
  unknown_component: "sig.malformed",
  absent_component: "sig.malformed",
  coverage: "sig.coverage",
  missing_parameter: "sig.malformed",
  bad_time: "sig.stale",
  expired: "sig.stale",
  not_yet_valid: "sig.stale",
  algorithm: "sig.alg-mismatch",
  unknown_key: "key.not-in-record",
  wrong: "sig.bad",
  digest_missing: "digest.missing",
  digest_mismatch: "digest.mismatch",
  replayed: "sig.replay",
};

/** A refusal by its SAGE name. Other errors stay what they are. */
export function sageError(thrown: unknown): AgentError {
  if (thrown instanceof SignatureError) return new SageError(PROBLEMS[thrown.problem], thrown.message, { cause: thrown });
  const error = AgentError.from(thrown);
  if (error.code !== "identity_unresolved" || error.facts.detail?.["error"] !== undefined) return error;
  return named("ErrDIDNotResolved", error.message, error);
}

/** The refusal of a message whose author has to sign again. Gateways pass it on to the author. */
export const MESSAGE_CHALLENGE = { error: "ErrReplayAttack", reason: "message.challenge" } as const;

/**
 * What a caller is told: the error by name, and how to sign. The nonce after a session that has ended is for the next handshake. The reason
 * is for the log of the server: it would help who guesses.
 */
export function refusalFor(error: AgentError): AgentError {
  const { detail } = error.facts;
  const name = detail?.["error"];
  if (detail?.["reason"] === MESSAGE_CHALLENGE.reason)
    return new AgentError("unauthenticated", error.message, { detail, cause: error });
  // A refusal to go on without protection, and a challenge, say themselves what to do.
  if (!isSageErrorName(name) || error.code === "downgrade_refused" || error.code === "unauthenticated") return error;
  const nonce = name === "ErrSessionExpired" ? detail?.["nonce"] : undefined;
  const told = { error: name, ...(nonce === undefined ? undefined : { nonce }) };
  return new AgentError("unauthenticated", `the request was refused (${name})`, { detail: told, cause: error });
}

/** Whether a refusal is one by the names of SAGE. */
export function isNamed(thrown: unknown): thrown is AgentError {
  return thrown instanceof AgentError && thrown.facts.detail?.["error"] !== undefined;
}

/** Whether an error is the named one of SAGE: `isSageError(error, "ErrReplayAttack")`. */
export function isSageError(thrown: unknown, name: SageErrorName): thrown is AgentError {
  return thrown instanceof AgentError && (thrown.name === name || thrown.facts.detail?.["error"] === name);
}

/** A refusal as the log and the metrics of the server have it: with its reason. */
export function loggedRefusal({ code, message, facts: { detail } }: AgentError): AgentError {
  const reason = detail?.["reason"] ?? code;
  return new AgentError(code, `request refused (${reason}): ${message}`, { detail: { reason } });
}

/** The error that a peer named in its answer, under the code that it has here. */
export function namedByPeer(thrown: unknown): AgentError {
  const error = AgentError.from(thrown);
  const name = error.facts.detail?.["error"];
  return isSageErrorName(name) && error.code === "unauthenticated" ? named(name, error.message, error) : error;
}

function named(name: SageErrorName, message: string, error: AgentError): AgentError {
  const { facts } = error;
  const renamed = new AgentError(NAMES[name], message, { ...facts, detail: { ...facts.detail, error: name }, cause: error });
  renamed.name = name;
  return renamed;
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
