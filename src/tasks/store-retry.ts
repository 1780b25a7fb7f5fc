import { AgentError } from "../envelope/index.js";
import type { RuntimeContext } from "./runtime-context.js";

/** Delay between two attempts while the store is unavailable. */
const TRY_AGAIN_MS = 200;

/** Retries a store operation while the store is unavailable, for as long as the run's lease may still be valid. */
export async function retryWhileUnavailable<T>(context: RuntimeContext, ask: () => Promise<T>): Promise<T> {
  const giveUpAt = context.ids.now() + context.limits.storeAwayMs;
  for (;;) {
    try {
      return await ask();
    } catch (thrown) {
      if (!isStoreUnavailable(thrown) || context.ids.now() >= giveUpAt) throw thrown;
      await new Promise<void>((resolve) => void context.timers.after(TRY_AGAIN_MS, resolve));
    }
  }
}

/** True for failures after which the same operation may succeed later. */
export function isStoreUnavailable(thrown: unknown): boolean {
  return thrown instanceof AgentError && (thrown.code === "unavailable" || thrown.code === "overloaded");
}
