import { setTimeout as pause } from "node:timers/promises";
import { AgentError } from "../../../src/index.js";
import type { BenchModel } from "./settings.js";

/** Times that a question is asked again, and the first pause between them; it is doubled each time. */
const RETRIES = 5;
const FIRST_MS = 500;
/** A server that wants a longer pause is not waited for. */
const MOST_MS = 120_000;
/** What may be over a moment later. Asking a model twice has no effects. */
const PASSING = new Set<string>(["overloaded", "unavailable", "interrupted", "deadline"]);

type Pause = (ms: number, signal: AbortSignal) => Promise<unknown>;

/**
 * A model that plans, judges or sums up is not measured: one refused request must not end hundreds of judgements. It is asked again after
 * the pause that its server names.
 */
export function retrying(
  model: Pick<BenchModel, "answer">,
  wait: Pause = (ms, signal) => pause(ms, undefined, { signal }),
): Pick<BenchModel, "answer"> {
  return {
    async answer(payload, signal) {
      for (let tries = 0; ; tries++)
        try {
          return await model.answer(payload, signal);
        } catch (thrown) {
          const ms = signal.aborted ? undefined : pauseAfter(thrown, tries);
          if (ms === undefined) throw thrown;
          await wait(ms, signal);
        }
    },
  };
}

/** Undefined: asking again would not help. */
function pauseAfter(thrown: unknown, tries: number): number | undefined {
  if (!(thrown instanceof AgentError) || !PASSING.has(thrown.code) || tries >= RETRIES) return undefined;
  const ms = thrown.facts.retryAfterMs ?? FIRST_MS * 2 ** tries;
  return ms > MOST_MS ? undefined : ms;
}
