import type { Head } from "./head.js";

/**
 * All error codes. `face` is the public category. `again` says whether a retry is allowed at all; the retrying side must also know
 * that the operation is safe, that nothing was sent, or that the peer honours the idempotency key.
 */
export const ERRORS = {
  invalid_message: { face: "E_PROTOCOL", again: "never" },
  too_large: { face: "E_PROTOCOL", again: "never" },
  encode: { face: "E_ENCODE", again: "never" },
  decode: { face: "E_DECODE", again: "never" },
  unsupported: { face: "E_UNSUPPORTED", again: "never" },
  unsupported_method: { face: "E_UNSUPPORTED", again: "never" },
  unsupported_version: { face: "E_UNSUPPORTED", again: "never" },
  unsupported_content: { face: "E_UNSUPPORTED", again: "never" },
  push_unsupported: { face: "E_UNSUPPORTED", again: "never" },
  extension_required: { face: "E_UNSUPPORTED", again: "never" },
  card_not_configured: { face: "E_UNSUPPORTED", again: "never" },
  downgrade_refused: { face: "E_UNSUPPORTED", again: "never" },
  task_not_found: { face: "E_PROTOCOL", again: "never" },
  not_found: { face: "E_HTTP", again: "never" },
  not_cancelable: { face: "E_PROTOCOL", again: "never" },
  task_closed: { face: "E_PROTOCOL", again: "never" },
  conflict: { face: "E_PROTOCOL", again: "never" },
  expired: { face: "E_PROTOCOL", again: "never" },
  unauthenticated: { face: "E_HTTP", again: "never" },
  forbidden: { face: "E_HTTP", again: "never" },
  bad_signature: { face: "E_PROTOCOL", again: "never" },
  replayed: { face: "E_PROTOCOL", again: "never" },
  identity_unresolved: { face: "E_CONN", again: "never" },
  handshake_failed: { face: "E_CONN", again: "never" },
  session_expired: { face: "E_PROTOCOL", again: "once" },
  overloaded: { face: "E_HTTP", again: "later" },
  unavailable: { face: "E_CONN", again: "later" },
  interrupted: { face: "E_CONN", again: "later" },
  deadline: { face: "E_TIMEOUT", again: "later" },
  cancelled: { face: "E_TIMEOUT", again: "never" },
  bad_peer: { face: "E_PROTOCOL", again: "never" },
  loop: { face: "E_PROTOCOL", again: "never" },
  lost_place: { face: "E_PROTOCOL", again: "never" },
  internal: { face: "E_PROTOCOL", again: "never" },
} as const satisfies Record<string, { readonly face: ErrorFace; readonly again: "never" | "once" | "later" }>;

/** The error classes of the UTE format. */
export type ErrorFace = "E_TIMEOUT" | "E_HTTP" | "E_CONN" | "E_PROTOCOL" | "E_ENCODE" | "E_DECODE" | "E_UNSUPPORTED";
/** The code of an `AgentError`. */
export type ErrorCode = keyof typeof ERRORS;

/** Whether a value is an error code. */
export function isErrorCode(word: unknown): word is ErrorCode {
  return typeof word === "string" && Object.hasOwn(ERRORS, word);
}

export interface ErrorFacts {
  /** Whether the other side may have acted on the request. */
  readonly sent?: "no" | "maybe";
  /** The path of the invalid member: `message.parts[0]`. */
  readonly field?: string;
  /** Facts for the caller, such as the task's id. Never a secret. */
  readonly detail?: { readonly [name: string]: string };
  readonly head?: Head;
  readonly retryAfterMs?: number;
  /** HTTP status of the response, if there was one. */
  readonly status?: number;
  /** For logs only, never sent. */
  readonly cause?: unknown;
}

/** The error type of Koine. The code is not part of the message, so that messages do not grow from hop to hop. */
export class AgentError extends Error {
  readonly code: ErrorCode;
  readonly facts: ErrorFacts;

  constructor(code: ErrorCode, message: string, facts: ErrorFacts = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = "AgentError";
    this.code = code;
    this.facts = facts;
  }

  /** The public error category. */
  get face(): ErrorFace {
    return ERRORS[this.code].face;
  }

  /** Converts any thrown value. Foreign errors become `internal`, with the original as the cause only. */
  static from(thrown: unknown): AgentError {
    if (thrown instanceof AgentError) return thrown;
    return new AgentError("internal", "the agent failed unexpectedly", { cause: thrown });
  }
}
