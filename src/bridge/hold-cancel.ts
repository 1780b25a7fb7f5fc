import { type AgentError, type Cancel, CancelSource } from "../envelope/index.js";
import type { Clock, LinkedCancel } from "../policies/index.js";

/** How long a peer may take to say how it calls work that nobody wants any more. */
const NAME_MS = 5_000;

/**
 * Work can be stopped at a peer only by the name it has there. A cancel that comes before that name is held back until it is
 * known, so that the work can be stopped and not only the call; but not for ever.
 */
export function holdCancel(above: Cancel, isNamed: () => boolean, clock: Clock): LinkedCancel {
  const source = new CancelSource();
  let takeBack = (): void => undefined;
  const off = above.onCancel((reason) => {
    if (isNamed() || !isUnwanted(reason)) source.cancel(reason);
    else takeBack = clock.after(NAME_MS, () => source.cancel(reason));
  });
  return {
    source,
    unlink() {
      off();
      takeBack();
    },
  };
}

/** Nobody wants the outcome. A process that ends, or has lost a task to another, lets go of work that is still wanted. */
export function isUnwanted(reason: AgentError | undefined): boolean {
  return reason !== undefined && reason.code !== "unavailable" && reason.code !== "lost_place";
}
