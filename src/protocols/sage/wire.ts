/** Names and times of this profile of SAGE. */

export const PROTOCOL = "sage";
export const VERSION = "1";
export const BINDING = "JSONRPC";

/** The extension of A2A under which the profile is declared on cards, and `security` is in the metadata of messages. */
export const EXTENSION_URI = "urn:koine:sage:1";

/** The tag of its HTTP signatures. */
export const TAG = "koine-sage-1";
/** Who signed: the DID of the caller in requests, of the agent in responses. */
export const DID_HEADER = "x-agent-did";
/** The id of a response that is a stream: its events are bound to it. */
export const STREAM_HEADER = "x-sage-stream";
/** Names the session that a request is in. */
export const SESSION_HEADER = "x-sage-session";
/** The proof of the author of a request about a task that a gateway brings. */
export const AUTHOR_HEADER = "x-sage-author";
/** The intent of what such an author signs. No message has it. */
export const TASK_REQUEST = "urn:koine:sage:1:task";
/** The intent of what an agent signs that has just started, to have a message signed again. No message has it. */
export const CHALLENGE = "urn:koine:sage:1:challenge";
/** The intent of messages that make a session. */
export const HANDSHAKE = "urn:koine:sage:1:handshake";

export const TIMES = {
  /** From `created` to `expires` of a signature, at most. */
  lifetimeMs: 300_000,
  /** How much clocks may differ. */
  skewMs: 30_000,
} as const;
