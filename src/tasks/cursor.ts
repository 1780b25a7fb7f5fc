import { AgentError, type Cursor } from "../envelope/index.js";

/** A position in a task's journal. */
export interface JournalPosition {
  readonly taskId: string;
  /** The last entry the reader has received. */
  readonly seq: number;
}

const SEQUENCE = /^[0-9a-z]{1,10}$/;

/** Encodes task id and sequence number, so that resuming needs no other state. */
export function cursorOf(taskId: string, seq: number): Cursor {
  // The brand exists in the type system only; cursors are created only here.
  return `${seq.toString(36)}.${taskId}` as Cursor;
}

/** Parses a cursor. Throws `invalid_message` for anything else. */
export function journalPositionOf(cursor: string, maxBytes: number): JournalPosition {
  const dot = cursor.indexOf(".");
  const seq = cursor.slice(0, Math.max(dot, 0));
  if (cursor.length > maxBytes || !SEQUENCE.test(seq) || dot === cursor.length - 1) throw malformed();
  const parsed = Number.parseInt(seq, 36);
  if (parsed < 1) throw malformed();
  return { taskId: cursor.slice(dot + 1), seq: parsed };
}

function malformed(): AgentError {
  return new AgentError("invalid_message", "after: not a cursor of this agent", { field: "after" });
}
