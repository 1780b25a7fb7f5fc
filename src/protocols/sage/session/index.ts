/** Sessions between two DIDs: sealed records, HMAC signatures and streams, and the table of a process. */

export { SageSession, type SessionStart } from "./session.js";
export { SessionError, type SessionReason } from "./session-error.js";
export { type SessionEnds, SessionTable, type SessionTableLimits, type SessionTableOptions } from "./session-table.js";
export type { StreamEvent, StreamReader, StreamWriter } from "./stream.js";
