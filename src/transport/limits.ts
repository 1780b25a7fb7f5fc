/** Transport limits. Everything that can grow is bounded here. */
export interface Limits {
  /** One request or response body, in bytes. */
  readonly bodyBytes: number;
  /** One JSON text: a request body, a response, an event. Less than other bodies, because parsing blocks the process. */
  readonly jsonBytes: number;
  readonly jsonDepth: number;
  /** Values in one JSON text or gRPC message, counted before it is parsed: commas, colons and opening brackets; fields and items. */
  readonly jsonValues: number;
  /** The body of one request whose caller is authenticated by the body itself. */
  readonly unprovenBytes: number;
  /** All bodies in this process whose callers are not authenticated yet, in bytes; more are refused. */
  readonly unadmittedBytes: number;
  /** All request bodies and unread messages of sessions in this process, in bytes; more are refused. */
  readonly bufferedBytes: number;
  /** Those of one caller, over all tenants. */
  readonly bufferedBytesPerCaller: number;
  readonly headerBytes: number;
  readonly partsPerMessage: number;
  /** One id, name or version in a message or operation, in characters. */
  readonly idChars: number;
  /** The lists of a message beside its content (references, tags, extensions), in characters. */
  readonly contextChars: number;
  /** One server-sent event, in bytes. */
  readonly sseEventBytes: number;
  readonly openStreams: number;
  readonly openStreamsPerOwner: number;
  readonly connections: number;
  /** TLS handshakes in progress; more connections wait for theirs, at most `headersMs`. */
  readonly handshakes: number;
  /** Those of one network (an IPv4 address, or the /64 of an IPv6 address). Networks take turns. */
  readonly handshakesPerNetwork: number;
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
  /** One message of a session, in bytes. */
  readonly sessionMessageBytes: number;
  /** Fragments of one message. */
  readonly sessionFragments: number;
  readonly sessions: number;
  readonly sessionsPerCaller: number;
  /** Sessions whose callers are not authenticated yet. */
  readonly sessionsUnadmitted: number;
  /** Time for the first message of a session. */
  readonly sessionFirstMessageMs: number;
  /** Time without a message in either direction and without a running call after which a session is closed. */
  readonly sessionIdleMs: number;
  /** Received messages of a session that its protocol has not read. Above it nothing more is read from the connection. */
  readonly sessionQueuedBytes: number;
  /** Running calls of one session. */
  readonly sessionCalls: number;
  /** Messages initiated by peers that nobody has read. */
  readonly inboxMessages: number;
  /** Those of one sender that a server has accepted and its agent has not answered. */
  readonly inboxMessagesPerSender: number;
  /** Requests that a server sends on its own to peers that sent it messages, at the same time; more wait. */
  readonly outgoingRequests: number;
  /** Those for one sender. */
  readonly outgoingRequestsPerSender: number;
  /** The time for one of them. */
  readonly outgoingMs: number;
  /** Nonces of signed messages that are still valid; more messages are refused. */
  readonly replayEntries: number;
  readonly replayEntriesPerSigner: number;
  /** Wrong tokens that one network may show to the admin listener in a minute; more are answered 429. The right token is always accepted. */
  readonly adminFailures: number;
}

export const DEFAULT_LIMITS: Limits = Object.freeze({
  bodyBytes: 16 * 1024 * 1024,
  jsonBytes: 4 * 1024 * 1024,
  jsonDepth: 64,
  jsonValues: 100_000,
  unprovenBytes: 64 * 1024,
  unadmittedBytes: 64 * 1024 * 1024,
  bufferedBytes: 256 * 1024 * 1024,
  bufferedBytesPerCaller: 64 * 1024 * 1024,
  headerBytes: 16 * 1024,
  partsPerMessage: 256,
  idChars: 512,
  contextChars: 64 * 1024,
  sseEventBytes: 4 * 1024 * 1024,
  openStreams: 10_000,
  openStreamsPerOwner: 1_000,
  connections: 10_000,
  handshakes: 1_000,
  handshakesPerNetwork: 100,
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
  sessionMessageBytes: 1024 * 1024,
  sessionFragments: 64,
  sessions: 1_000,
  sessionsPerCaller: 100,
  sessionsUnadmitted: 100,
  sessionFirstMessageMs: 10_000,
  sessionIdleMs: 60_000,
  sessionQueuedBytes: 1024 * 1024,
  sessionCalls: 64,
  inboxMessages: 1_000,
  inboxMessagesPerSender: 100,
  outgoingRequests: 64,
  outgoingRequestsPerSender: 8,
  outgoingMs: 10_000,
  replayEntries: 1_000_000,
  replayEntriesPerSigner: 50_000,
  adminFailures: 20,
});
