import { AgentError } from "../envelope/index.js";
import type { RuntimeContext } from "./runtime-context.js";

/** Between two tries of a store that is away. */
const TRY_AGAIN_MS = 200;

/** What a run asks of the store: one that is away is asked again while the run's lease may still hold. */
export async function retryWhileAway<T>(place: RuntimeContext, ask: () => Promise<T>): Promise<T> {
  const giveUpAt = place.ids.now() + place.limits.storeAwayMs;
  for (;;) {
    try {
      return await ask();
    } catch (thrown) {
      if (!isAway(thrown) || place.ids.now() >= giveUpAt) throw thrown;
      await new Promise<void>((resolve) => void place.timers.after(TRY_AGAIN_MS, resolve));
    }
  }
}

/** It does not answer, or has too much to do: it may take the same later. */
export function isAway(thrown: unknown): boolean {
  return thrown instanceof AgentError && (thrown.code === "unavailable" || thrown.code === "overloaded");
}
