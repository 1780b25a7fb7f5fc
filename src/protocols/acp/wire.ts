import type { Json, JsonObject, Maybe } from "../../envelope/index.js";

/**
 * The types of BeeAI ACP 0.2.0 as its SDK 1.0.3 reads and writes them. Where the OpenAPI document and the SDK differ, the SDK is
 * followed, because deployed peers use it. `null` and absent are equivalent.
 */

/** `RunMode`: wait for the result, poll, or stream. */
export const RUN_MODES = ["sync", "async", "stream"] as const;
export type RunMode = (typeof RUN_MODES)[number];

/** `RunStatus`. */
export const RUN_STATUSES = ["created", "in-progress", "awaiting", "cancelling", "cancelled", "completed", "failed"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** `MessagePart`. Content or a URL, or neither, never both. Unknown members are kept. */
export interface WirePart {
  /** A part with a name is an artifact. */
  readonly name: Maybe<string | null>;
  readonly content_type: string;
  readonly content: Maybe<string | null>;
  readonly content_encoding: "plain" | "base64";
  readonly content_url: Maybe<string | null>;
  readonly metadata: Maybe<WirePartMetadata | null>;
  readonly [extra: string]: Maybe<Json>;
}

/** The only two kinds; both SDKs reject others. */
export type WirePartMetadata = JsonObject & { readonly kind: "citation" | "trajectory" };

/** `Message`. The SDKs drop other members, so extensions cannot be carried here. */
export interface WireMessage {
  /** `user`, `agent` or `agent/name`. */
  readonly role: string;
  readonly parts: readonly WirePart[];
  readonly created_at: Maybe<string | null>;
  readonly completed_at: Maybe<string | null>;
}

/** `AwaitRequest` and `AwaitResume`: the SDKs support this one kind. */
export interface WireAwait {
  readonly type: "message";
  readonly message: WireMessage;
}

/** `Error`. The TypeScript client supports only these three codes. */
export const WIRE_ERROR_CODES = ["server_error", "invalid_input", "not_found"] as const;
export type WireErrorCode = (typeof WIRE_ERROR_CODES)[number];
export interface WireError {
  readonly code: WireErrorCode;
  readonly message: string;
  readonly data?: Maybe<JsonObject>;
}

/** `Run`. */
export interface WireRun {
  readonly run_id: string;
  readonly agent_name: string;
  readonly session_id: Maybe<string | null>;
  readonly status: RunStatus;
  readonly await_request: Maybe<WireAwait | null>;
  readonly output: readonly WireMessage[];
  readonly error: Maybe<WireError | null>;
  readonly created_at: string;
  readonly finished_at: Maybe<string | null>;
}

/** `Event`, distinguished by `type`. */
export type WireEvent =
  | {
      readonly type: "run.created" | "run.in-progress" | "run.awaiting" | "run.completed" | "run.failed" | "run.cancelled";
      readonly run: WireRun;
    }
  | { readonly type: "message.created" | "message.completed"; readonly message: WireMessage }
  | { readonly type: "message.part"; readonly part: WirePart }
  | { readonly type: "generic"; readonly generic: JsonObject }
  | { readonly type: "error"; readonly error: WireError };

/** `RunCreateRequest`. A type, so that it is JSON. */
export type WireRunRequest = {
  readonly agent_name: string;
  readonly input: readonly WireMessage[];
  readonly session_id: Maybe<string>;
  readonly session: Maybe<JsonObject>;
  readonly mode: RunMode;
};

/** `Session`: the URLs of its messages, not the messages. */
export interface WireSession {
  readonly id: string;
  readonly history: readonly string[];
  readonly state: Maybe<string | null>;
}

/** `AgentManifest`. */
export interface WireManifest {
  readonly name: string;
  readonly description: string;
  readonly input_content_types: readonly string[];
  readonly output_content_types: readonly string[];
  readonly metadata: JsonObject;
}
