import type { RuntimeContext } from "./runtime-context.js";

/** A turn ended before its cancel was noticed. An interrupted task is then canceled in the store. */
export async function isCanceledLate(
  { store, push }: RuntimeContext,
  { taskId, owner }: { readonly taskId: string; readonly owner: string },
): Promise<boolean> {
  const requested = await store.requestCancel(taskId, owner).catch(() => undefined);
  if (requested?.outcome !== "canceled") return false;
  push?.nudge();
  return true;
}
