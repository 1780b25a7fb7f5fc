import { AgentError, type Awaitable } from "../envelope/index.js";
import type { RuntimeContext } from "./runtime-context.js";

/** Delay between two attempts while the store is unavailable. */
const TRY_AGAIN_MS = 200;

/** Retries a store operation while the store is unavailable, for as long as the run's lease may still be valid. */
export function retryWhileUnavailable<T>(context: RuntimeContext, ask: () => Awaitable<T>): Awaitable<T> {
  const giveUpAt = context.ids.now() + context.limits.storeAwayMs;
  // Not async itself: every entry of a journal comes through here, and hardly any is written twice.
  try {
    const asked = ask();
    return asked instanceof Promise ? asked.catch((thrown: unknown) => tryAgain(context, ask, giveUpAt, thrown)) : asked;
  } catch (thrown) {
    return tryAgain(context, ask, giveUpAt, thrown);
  }
}

async function tryAgain<T>(context: RuntimeContext, ask: () => Awaitable<T>, giveUpAt: number, failure: unknown): Promise<T> {
  for (let thrown = failure; ; ) {
    if (!isStoreUnavailable(thrown) || context.ids.now() >= giveUpAt) throw thrown;
    await new Promise<void>((resolve) => void context.timers.after(TRY_AGAIN_MS, resolve));
    try {
      return await ask();
    } catch (again) {
      thrown = again;
    }
  }
}

/** True for failures after which the same operation may succeed later. */
export function isStoreUnavailable(thrown: unknown): boolean {
  return thrown instanceof AgentError && (thrown.code === "unavailable" || thrown.code === "overloaded");
}
