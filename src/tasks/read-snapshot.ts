import { AgentError, type Call } from "../envelope/index.js";
import { journalPositionOf } from "./cursor.js";
import { taskNotFound } from "./refusals.js";
import type { RuntimeContext } from "./runtime-context.js";
import type { Snapshot } from "./store.js";

/** The task as it is now. */
export async function snapshotOf(context: RuntimeContext, taskId: string, owner: string): Promise<Snapshot> {
  const snapshot = await context.store.snapshot(taskId, owner);
  if (snapshot === undefined) throw taskNotFound(taskId);
  return snapshot;
}

/** The task at a cursor. Throws `expired` if entries after it are gone: a gap is never silent. */
export async function snapshotAtCursor(context: RuntimeContext, taskId: string, cursor: string, call: Call): Promise<Snapshot> {
  const { owner } = call.caller;
  const at = journalPositionOf(cursor, context.limits.cursorBytes);
  const facts = await context.store.facts(taskId, owner);
  if (facts === undefined) throw taskNotFound(taskId);
  if (at.taskId !== taskId || at.seq > facts.seq) {
    throw new AgentError("invalid_message", "after: is not a cursor of this task", { field: "after" });
  }
  const page = await context.store.read(taskId, owner, at.seq, 1);
  const snapshot =
    page === undefined || at.seq < page.firstKept ? undefined : await context.store.snapshot(taskId, owner, at.seq);
  if (snapshot === undefined)
    throw new AgentError("expired", "the entries after this cursor are no longer kept", { detail: { taskId } });
  return snapshot;
}
