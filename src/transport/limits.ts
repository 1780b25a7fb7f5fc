/** Transport limits. Everything that can grow is bounded here. */
export interface Limits {
  /** One request or response body, in bytes. */
  readonly bodyBytes: number;
  readonly jsonDepth: number;
  readonly headerBytes: number;
  readonly partsPerMessage: number;
  /** One server-sent event, in bytes. */
  readonly sseEventBytes: number;
  readonly openStreams: number;
  readonly openStreamsPerOwner: number;
  readonly connections: number;
  /** Concurrent requests on one HTTP/2 connection. */
  readonly h2Streams: number;
  /** Time for the first byte of a new connection. */
  readonly firstByteMs: number;
  readonly headersMs: number;
  /** Time for a complete request to arrive. */
  readonly requestMs: number;
  /** Idle time after which a keep-alive connection is closed. */
  readonly idleMs: number;
  /** Time without read progress after which a slow reader is disconnected. */
  readonly writeStallMs: number;
  /** Interval of comments on a silent stream. */
  readonly keepAliveMs: number;
  /** How long a shutdown waits for running calls. */
  readonly drainMs: number;
  readonly hops: number;
  readonly cursorBytes: number;
}

export const DEFAULT_LIMITS: Limits = Object.freeze({
  bodyBytes: 16 * 1024 * 1024,
  jsonDepth: 64,
  headerBytes: 16 * 1024,
  partsPerMessage: 256,
  sseEventBytes: 4 * 1024 * 1024,
  openStreams: 10_000,
  openStreamsPerOwner: 1_000,
  connections: 10_000,
  h2Streams: 128,
  firstByteMs: 5_000,
  headersMs: 10_000,
  requestMs: 60_000,
  idleMs: 15_000,
  writeStallMs: 30_000,
  keepAliveMs: 15_000,
  drainMs: 10_000,
  hops: 8,
  cursorBytes: 256,
});
