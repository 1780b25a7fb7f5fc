import type { ErrorCode, JsonObject, Loss, Maybe, OperationKind, Via } from "../../envelope/index.js";

/** Bytes that crossed a wire in one direction, as far as they are kept. Header fields that hold credentials are never here. */
export interface WireBytes {
  /** `POST /a2a` of a request, `200` of a response. */
  readonly head: string;
  /** Without credentials, cookies and tokens. */
  readonly headers: { readonly [name: string]: string };
  /** As text where it is UTF-8, else as base64. */
  readonly body: string;
  readonly encoding: "utf8" | "base64";
  /** Of the whole body; `body` may be shorter. */
  readonly bytes: number;
  readonly cut: boolean;
}

/** One event of an answer, small enough for a list. */
export interface CapturedEvent {
  readonly at: number;
  readonly kind: string;
  readonly state?: Maybe<string>;
  /** The first characters of what it says. */
  readonly text?: Maybe<string>;
}

/**
 * One call seen at one place. `in`: somebody called us. `out`: we called a peer; several of them may follow from one that
 * came in, and their `parentSpan` is its `span`.
 */
export interface CapturedMessage {
  readonly id: string;
  /** Rises by one with every sighting and every change of one: a cursor for readers. */
  readonly seq: number;
  readonly direction: "in" | "out";
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly endedAt?: Maybe<number>;
  readonly traceId: string;
  readonly span: string;
  readonly parentSpan?: Maybe<string>;
  /** Of ours that is meant (in), or the configured name of the peer (out). */
  readonly agent: string;
  /** Who called (in), or which of ours calls (out). */
  readonly caller: string;
  readonly via: Via;
  readonly operation: OperationKind;
  readonly messageId?: Maybe<string>;
  readonly taskId?: Maybe<string>;
  readonly sessionId?: Maybe<string>;
  /** The first characters of what was said. */
  readonly text: string;
  readonly request?: Maybe<WireBytes>;
  /** The neutral message as UTE JSON, for operations that have one. */
  readonly envelope?: Maybe<JsonObject>;
  readonly response?: Maybe<WireBytes>;
  readonly events: readonly CapturedEvent[];
  /** The answer's message as UTE JSON, where there was one. */
  readonly answer?: Maybe<JsonObject>;
  readonly losses: readonly Loss[];
  readonly status: "open" | "ok" | "failed" | "stopped";
  readonly error?: Maybe<{ readonly code: ErrorCode; readonly message: string }>;
}

/** A sighting without bytes and documents: what lists and live feeds carry. */
export type CapturedMessageSummary = Omit<CapturedMessage, "request" | "response" | "envelope" | "answer" | "events"> & {
  readonly eventCount: number;
  readonly requestBytes: number;
  readonly responseBytes: number;
};

/** Which sightings are wanted. All given members must hold. */
export interface CaptureFilter {
  readonly agent?: Maybe<string>;
  readonly traceId?: Maybe<string>;
  readonly protocol?: Maybe<string>;
  readonly direction?: Maybe<"in" | "out">;
  readonly status?: Maybe<CapturedMessage["status"]>;
  /** Occurs in what was said, whatever the case. */
  readonly text?: Maybe<string>;
}

export interface CaptureLimits {
  /** The oldest are forgotten. */
  readonly sightings: number;
  /** Kept of each body. */
  readonly bodyBytes: number;
  /** Kept of all bodies together; the oldest lose theirs first. */
  readonly totalBytes: number;
  readonly eventsPerSighting: number;
  readonly readers: number;
}
export const CAPTURE_LIMITS: CaptureLimits = Object.freeze({
  sightings: 10_000,
  bodyBytes: 64 * 1024,
  totalBytes: 64 * 1024 * 1024,
  eventsPerSighting: 1_000,
  readers: 64,
});

/** What one reader follows. */
export interface CaptureFeed extends AsyncIterable<CapturedMessage> {
  /** How many were forgotten before this reader got them, at least. */
  readonly missed?: Maybe<number>;
}

/** What was seen lately, for whoever looks: the page, `koine inspect`, a recording. */
export interface CaptureLog {
  /** The newest first, at most `limit`, only those before `before`. */
  list(filter: CaptureFilter, limit: number, before?: Maybe<number>): readonly CapturedMessageSummary[];
  get(id: string): Maybe<CapturedMessage>;
  /** Everything in one trace, by time. */
  trace(traceId: string): readonly CapturedMessage[];
  /**
   * New and changed ones from behind `after` (0: only from now on). One that changes faster than the reader reads is given
   * once, as it is then; the buffer is bounded by the log itself.
   */
  follow(filter: CaptureFilter, after: number, signal: AbortSignal): CaptureFeed;
  readonly size: number;
  /** How many were ever forgotten. */
  readonly forgotten: number;
}
