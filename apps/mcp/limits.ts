/** All limits of the MCP server. */
export const LIMITS = {
  /** Connected agents, including those of gateways. */
  agents: 100,
  tools: 200,
  /** Concurrent calls. */
  calls: 64,
  /** One message of the assistant, including files. */
  messageBytes: 16 * 1024 * 1024,
  files: 16,
  /** A result is one line, and the official client disconnects on a line of 10 MiB. */
  resultBytes: 8 * 1024 * 1024,
  /** Text is written twice into a result: as content and as structured content. */
  textChars: 400_000,
  artifacts: 100,
  descriptionChars: 2_000,
  lineChars: 500,
  /** How long the first tool list waits for unreachable agents. */
  startMs: 5_000,
  /** Backoff between connection attempts. */
  retryMs: 1_000,
  retryMaxMs: 60_000,
  /** Interval between card refreshes. */
  refreshMs: 300_000,
  /** Default timeout of one call. */
  callMs: 3_600_000,
  /** How long a cancelled call waits for its task id, and for the task to be cancelled. */
  taskIdMs: 1_000,
  cancelMs: 5_000,
  /** Poll interval for peers without streaming. */
  pollMs: 50,
  pollMaxMs: 5_000,
  /** Minimum interval between progress notifications for artifact chunks. */
  progressGapMs: 50,
  /** Heartbeat interval: assistants time out without progress. */
  heartbeatMs: 15_000,
  /** Timeout and retry delay for a gateway's agent list. */
  listMs: 10_000,
  listRetryMs: 5_000,
  listBytes: 4 * 1024 * 1024,
  /** Time to cancel running calls after the assistant disconnects. */
  drainMs: 6_000,
} as const;
