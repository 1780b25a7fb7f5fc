import { AgentError, type Call } from "../envelope/index.js";
import { journalPositionOf } from "./cursor.js";
import { taskNotFound } from "./refusals.js";
import type { RuntimeContext } from "./runtime-context.js";
import type { Snapshot } from "./store.js";

/** The task as the reader of a cursor left it. Never a silent gap: what is not kept any more is said to be so. */
export async function snapshotBehind(place: RuntimeContext, taskId: string, cursor: string, call: Call): Promise<Snapshot> {
  const { owner } = call.caller;
  const at = journalPositionOf(cursor, place.limits.cursorBytes);
  const facts = await place.store.facts(taskId, owner);
  if (facts === undefined) throw taskNotFound(taskId);
  if (at.taskId !== taskId || at.seq > facts.seq) {
    throw new AgentError("invalid_message", "after: is not a cursor of this task", { field: "after" });
  }
  const page = await place.store.read(taskId, owner, at.seq, 1);
  const snapshot = page === undefined || at.seq < page.firstKept ? undefined : await place.store.snapshot(taskId, owner, at.seq);
  if (snapshot === undefined)
    throw new AgentError("expired", "the entries after this cursor are no longer kept", { detail: { taskId } });
  return snapshot;
}
