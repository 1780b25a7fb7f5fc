import type { KnownGaps } from "../run.js";

const UNREAD = "does not read limit and offset, and lists all agents";
const TAKEN_UP_AGAIN = "takes up any run that ever asked a question, and leaves it in progress for ever";

/** Where PyPI `acp-sdk` 1.0.3 departs from its own specification or from good manners, each looked at by hand. */
export const acpSdk103Gaps: KnownGaps = {
  "acp:0.2:agents:limit": UNREAD,
  "acp:0.2:agents:offset": UNREAD,
  "acp:0.2:agents:limit-checked": UNREAD,
  "acp:0.2:resume:finished": TAKEN_UP_AGAIN,
  "acp:0.2:resume:cancelled": TAKEN_UP_AGAIN,
  "acp:0.2:session:read-singular": "serves /sessions/{session_id} only",
  "acp:0.2:resource:unknown": "waits for another error than its object store raises, and answers 500",
  "acp:0.2:validation:base64-garbage": "does not look into base64",
  "acp:0.2:error:agent-throws": "puts the text of any error an agent raises into the failed run",
};
