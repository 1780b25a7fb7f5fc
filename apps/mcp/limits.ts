/** Every bound of this folder in one place. */
export const LIMITS = {
  /** Agents kept at a time, those of gateways included. */
  agents: 100,
  tools: 200,
  /** Calls under way at a time. */
  calls: 64,
  /** One message of the assistant: its files are in it. */
  messageBytes: 16 * 1024 * 1024,
  files: 16,
  /** A result is one line, and assistants that use the official client hang up on a line of 10 MiB. */
  resultBytes: 8 * 1024 * 1024,
  /** Written twice into a result, so that assistants see it that read only one of the two places. */
  textChars: 400_000,
  artifacts: 100,
  descriptionChars: 2_000,
  lineChars: 500,
  /** The first list of tools waits this long for agents that do not answer. */
  startMs: 5_000,
  /** Between two tries to reach an agent: the first, and the longest. */
  retryMs: 1_000,
  retryMaxMs: 60_000,
  /** Between two looks at a card. */
  refreshMs: 300_000,
  /** For one call, unless told. */
  callMs: 3_600_000,
  /** A cancelled call waits this long to learn the id of its task, and this long for the task to be cancelled. */
  taskIdMs: 1_000,
  cancelMs: 5_000,
  /** Between two looks at a task of a peer that does not stream: the first, and the longest. */
  pollMs: 50,
  pollMaxMs: 5_000,
  /** Between two pieces of a growing answer, which come together instead of each alone. */
  progressGapMs: 50,
  /** An agent that says nothing is said to be at work this often: assistants give up on silence. */
  heartbeatMs: 15_000,
  /** For the list of a gateway, and until the next try when it was not given. */
  listMs: 10_000,
  listRetryMs: 5_000,
  listBytes: 4 * 1024 * 1024,
  /** When the assistant is gone, calls under way have this long to be cancelled. */
  drainMs: 6_000,
} as const;
