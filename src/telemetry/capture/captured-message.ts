import type { ErrorCode, ErrorFace, JsonObject, Loss, Maybe, OperationKind, Via } from "../../envelope/index.js";

/** Captured bytes of one direction, up to the limit. Header fields with credentials are never included. */
export interface WireBytes {
  /** `POST /a2a` for a request, `200` for a response; in a session `WS /path` and `message`. */
  readonly head: string;
  /** Without credentials, cookies and tokens. */
  readonly headers: { readonly [name: string]: string };
  /**
   * Text if it is UTF-8, otherwise base64. The messages of a session are joined by line feeds; binary ones are left out, unless they
   * are sealed: then they are here as they crossed the wire, one after the other.
   */
  readonly body: string;
  readonly encoding: "utf8" | "base64";
  /** Size of the whole body; `body` may be shorter. */
  readonly bytes: number;
  readonly cut: boolean;
  /** It is ciphertext. */
  readonly sealed?: Maybe<true>;
  /** The DID that was proved for it, by a signature over the request or in the handshake of the session. */
  readonly signer?: Maybe<string>;
}

/** One event of an answer, reduced for lists. */
export interface CapturedEvent {
  readonly at: number;
  readonly kind: string;
  readonly state?: Maybe<string>;
  /** The beginning of its text. */
  readonly text?: Maybe<string>;
}

/**
 * One captured call. `in`: a caller called an agent of this process. `out`: this process called a peer; the `parentSpan` of an
 * outgoing call is the `span` of the incoming call that caused it.
 */
export interface CapturedMessage {
  readonly id: string;
  /** Increases with every new message and every change: a cursor for readers. */
  readonly seq: number;
  readonly direction: "in" | "out";
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly endedAt?: Maybe<number>;
  readonly traceId: string;
  readonly span: string;
  readonly parentSpan?: Maybe<string>;
  /** The called agent of this process (in), or the configured name of the peer (out). */
  readonly agent: string;
  /** The authenticated caller (in), or the calling agent of this process (out). */
  readonly caller: string;
  readonly via: Via;
  readonly operation: OperationKind;
  readonly messageId?: Maybe<string>;
  readonly taskId?: Maybe<string>;
  readonly sessionId?: Maybe<string>;
  /** The beginning of the message text. */
  readonly text: string;
  readonly request?: Maybe<WireBytes>;
  /** The message as UTE JSON, for operations that carry one. */
  readonly envelope?: Maybe<JsonObject>;
  readonly response?: Maybe<WireBytes>;
  readonly events: readonly CapturedEvent[];
  /** The answer message as UTE JSON, if there was one. */
  readonly answer?: Maybe<JsonObject>;
  readonly losses: readonly Loss[];
  readonly status: "open" | "ok" | "failed" | "stopped";
  readonly error?: Maybe<{ readonly code: ErrorCode; readonly face?: Maybe<ErrorFace>; readonly message: string }>;
}

/** A captured message without bodies and documents, as lists and live feeds carry it. */
export type CapturedMessageSummary = Omit<CapturedMessage, "request" | "response" | "envelope" | "answer" | "events"> & {
  readonly eventCount: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
};

/** Selects captured messages. All given members must match. */
export interface CaptureFilter {
  /** The agent that received or sent the message. */
  readonly agent?: Maybe<string>;
  /** The trace. */
  readonly traceId?: Maybe<string>;
  /** The protocol. */
  readonly protocol?: Maybe<string>;
  /** Inbound or outbound. */
  readonly direction?: Maybe<"in" | "out">;
  /** The outcome. */
  readonly status?: Maybe<CapturedMessage["status"]>;
  /** Substring of the message text, case-insensitive. */
  readonly text?: Maybe<string>;
}

/** Limits of message capture. */
export interface CaptureLimits {
  /** Captured messages kept (configuration key `inspect.sightings`); the oldest are evicted. */
  readonly sightings: number;
  /** Bytes kept of each body. */
  readonly bodyBytes: number;
  /** Bytes kept of all bodies together; the oldest bodies are dropped first. */
  readonly totalBytes: number;
  /** Events kept of one message. Default: 1,000. */
  readonly eventsPerMessage: number;
  /** Concurrent readers of the feed. Default: 64. */
  readonly readers: number;
}
/** The default limits. */
export const CAPTURE_LIMITS: CaptureLimits = Object.freeze({
  sightings: 10_000,
  bodyBytes: 64 * 1024,
  totalBytes: 64 * 1024 * 1024,
  eventsPerMessage: 1_000,
  readers: 64,
});

/** The stream of captured messages that one reader follows. */
export interface CaptureFeed extends AsyncIterable<CapturedMessage> {
  /** Lower bound of messages evicted before this reader received them. */
  readonly missed?: Maybe<number>;
}

/** The captured messages of this process, as read by the dashboard, `koine inspect` and recordings. */
export interface CaptureLog {
  /** Newest first, at most `limit`, only those with `seq` below `before`. */
  list(filter: CaptureFilter, limit: number, before?: Maybe<number>): readonly CapturedMessageSummary[];
  get(id: string): Maybe<CapturedMessage>;
  /** All messages of one trace, oldest first. */
  trace(traceId: string): readonly CapturedMessage[];
  /**
   * New and changed messages with `seq` above `after` (0: only from now on). A message that changes faster than the reader reads
   * is delivered once, in its latest state.
   */
  follow(filter: CaptureFilter, after: number, signal: AbortSignal): CaptureFeed;
  readonly size: number;
  /** Total number of evicted messages. */
  readonly forgotten: number;
}
