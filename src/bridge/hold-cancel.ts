import { type AgentError, type Cancel, CancelSource } from "../envelope/index.js";
import type { Clock, LinkedCancel } from "../policies/index.js";

/** How long a cancel waits for the upstream task id. */
const TASK_ID_MS = 5_000;

/**
 * Work at an upstream can be cancelled only by its task id there. A cancel that comes earlier is delayed until the id is
 * known, within a limit, so that the work is cancelled and not only the call.
 */
export function holdCancel(parent: Cancel, hasTaskId: () => boolean, clock: Clock): LinkedCancel {
  const source = new CancelSource();
  let stopTimer = (): void => undefined;
  const off = parent.onCancel((reason) => {
    if (hasTaskId() || !isUnwanted(reason)) source.cancel(reason);
    else stopTimer = clock.after(TASK_ID_MS, () => source.cancel(reason));
  });
  return {
    source,
    unlink() {
      off();
      stopTimer();
    },
  };
}

/** Whether the result is no longer wanted. A process that ends or lost its task to another leaves work that still is. */
export function isUnwanted(reason: AgentError | undefined): boolean {
  return reason !== undefined && reason.code !== "unavailable" && reason.code !== "lost_place";
}
