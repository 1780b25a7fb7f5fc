import type { JsonObject, Maybe } from "../../envelope/index.js";

/**
 * Agora has several dialects. `python` is that of the Python library 0.2.0 and the default; `spec` is the written specification
 * of 2024; `demo` is the paper's demonstration network. All three are read.
 */
export const DIALECTS = ["python", "spec", "demo"] as const;
export type Dialect = (typeof DIALECTS)[number];

/** Used as the hash of a negotiation. */
export const NEGOTIATION = "negotiation";

/** A first or further message. */
export interface WireRequest {
  /** The hash of the protocol document; null for natural language. */
  readonly protocolHash: string | null;
  /** Required by the Python library, with any value. */
  readonly protocolSources: readonly string[] | null;
  readonly body: string;
  /** `true` or absent. */
  readonly multiround?: Maybe<true>;
  /** The seed's names for the text and the context, in its plain form; `context` has the names of the envelope. */
  readonly message?: Maybe<string>;
  readonly context?: Maybe<JsonObject>;
  /** Koine extension; ignored by other peers. */
  readonly metadata?: Maybe<WireMetadata>;
}

/** The status values of every dialect; all are read. */
export const STATUSES = ["success", "failure", "error", "rejected"] as const;
export type WireStatus = (typeof STATUSES)[number];

export interface WireReply {
  readonly status: WireStatus;
  readonly conversationId?: Maybe<string>;
  readonly body?: Maybe<string>;
  /** The error text, in the dialects of the Python library and the demo. */
  readonly message?: Maybe<string>;
  /** Koine extension; ignored by other peers. */
  readonly metadata?: Maybe<WireMetadata>;
}

/** The seed's names (Table 8), and envelope members that Agora has no member for. */
export interface WireMetadata {
  /** The sender understands the Koine members below and wants them in the reply. */
  readonly koine?: Maybe<1>;
  readonly request_id?: Maybe<string>;
  readonly source?: Maybe<string>;
  readonly target?: Maybe<string>;
  readonly trace_id?: Maybe<string>;
  readonly idempotency_key?: Maybe<string>;
  readonly session?: Maybe<string>;
  /** The full envelope as UTE JSON, if the body and the members above do not carry everything. */
  readonly envelope?: Maybe<JsonObject>;
  /** In a reply: the task. In a request: the task that is queried, instead of a new message. */
  readonly receipt?: Maybe<WireReceipt>;
  /** In a reply: members of the task that neither the receipt nor the body carries. */
  readonly task?: Maybe<WireTask | JsonObject>;
  /** In a request: return a receipt at once. */
  readonly prefer?: Maybe<"receipt">;
  /** In a request: cancel the task with this id. */
  readonly cancel?: Maybe<string>;
  /** In an error reply: the Koine error code. */
  readonly code?: Maybe<string>;
  /** In an error reply: the details of the error, all texts. */
  readonly detail?: Maybe<JsonObject>;
}

/** The members of a task beside its receipt, for Koine peers. */
export interface WireTask {
  readonly session: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The status message, as UTE JSON. */
  readonly message?: Maybe<JsonObject>;
  readonly error?: Maybe<{ readonly code: string; readonly message: string }>;
  readonly artifacts: readonly WireArtifact[];
  /** The last message of the agent, as UTE JSON, if it is the only answer. */
  readonly said?: Maybe<JsonObject>;
  readonly metadata?: Maybe<JsonObject>;
}

export interface WireArtifact {
  readonly id: string;
  readonly name?: Maybe<string>;
  readonly description?: Maybe<string>;
  /** As in UTE JSON; if absent, the body is the content. */
  readonly content?: Maybe<JsonObject>;
  readonly metadata?: Maybe<JsonObject>;
  readonly extensions?: Maybe<readonly string[]>;
}

export interface WireReceipt {
  readonly id: string;
  /** The task state, in Koine terms. Absent in requests. */
  readonly state?: Maybe<string>;
}
