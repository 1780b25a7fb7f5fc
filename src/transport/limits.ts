/** Everything that can grow has a name, a unit and a modest default. */
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
  /** Requests under way at once on one HTTP/2 connection. */
  readonly h2Streams: number;
  /** A new connection must say something within this time. */
  readonly firstByteMs: number;
  readonly headersMs: number;
  /** A whole request must have arrived within this time. */
  readonly requestMs: number;
  /** An idle keep-alive connection is closed after this time. */
  readonly idleMs: number;
  /** A reader that takes nothing for this long is cut. */
  readonly writeStallMs: number;
  /** A silent stream gets a comment this often. */
  readonly keepAliveMs: number;
  /** How long a shutdown waits for calls under way. */
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
