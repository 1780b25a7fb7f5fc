import type { JsonObject, Maybe } from "../../envelope/index.js";

/**
 * Agora has no single wire. `python` is what the library 0.2.0 speaks and the default; `spec` is the written
 * specification of 2024; `demo` the paper's demonstration network. Readers take all three.
 */
export const DIALECTS = ["python", "spec", "demo"] as const;
export type Dialect = (typeof DIALECTS)[number];

/** In the place of a hash: not a document, but a talk about one. */
export const NEGOTIATION = "negotiation";

/** The first message, and every further one of a conversation. */
export interface WireRequest {
  /** Of the protocol document; null is natural language. */
  readonly protocolHash: string | null;
  /** The library wants the member to be there, whatever its value. */
  readonly protocolSources: readonly string[] | null;
  readonly body: string;
  /** Written as `true` or not at all. */
  readonly multiround?: Maybe<true>;
  /** Ours: peers ignore it. */
  readonly metadata?: Maybe<WireMetadata>;
}

/** Every dialect's status; readers take all of them. */
export const STATUSES = ["success", "failure", "error", "rejected"] as const;
export type WireStatus = (typeof STATUSES)[number];

export interface WireReply {
  readonly status: WireStatus;
  readonly conversationId?: Maybe<string>;
  readonly body?: Maybe<string>;
  /** Of an error, in the dialects of the library and the demo. */
  readonly message?: Maybe<string>;
  /** Ours: peers ignore it. */
  readonly metadata?: Maybe<WireMetadata>;
}

/** The seed's names (Table 8), and what else of an envelope has no place of its own in Agora. */
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
  /** In a request: no wait, a receipt at once. */
  readonly prefer?: Maybe<"receipt">;
  /** In a request: the work with this id is to stop. */
  readonly cancel?: Maybe<string>;
  /** In an error reply: the Koine error code. */
  readonly code?: Maybe<string>;
}

/** A task beside the receipt that names it, for peers of ours. */
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
  /** As in UTE JSON; where it is missing, the body is the content. */
  readonly content?: Maybe<JsonObject>;
  readonly metadata?: Maybe<JsonObject>;
  readonly extensions?: Maybe<readonly string[]>;
}

export interface WireReceipt {
  readonly id: string;
  /** The task state, in Koine terms. Absent in requests. */
  readonly state?: Maybe<string>;
}
