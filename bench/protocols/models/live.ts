import { setTimeout as pause } from "node:timers/promises";
import { openAiModel } from "../../../src/public/models.js";
import { cancelFrom } from "../../../src/public/protocols.js";
import { recording } from "./recording.js";
import { type BenchModel, DECODING, type ModelSettings } from "./settings.js";

const MS_PER_S = 1_000;

/** A model behind the chat completions API, asked with the paper's decoding parameters. It never retries: the caller owns retries. */
export function openLiveModel(settings: Extract<ModelSettings, { kind: "live" }>): BenchModel {
  const { baseUrl, model, keyEnv, timeoutMs, requestsPerSecond, record } = settings;
  const client = openAiModel({ baseUrl, model, apiKeyEnv: keyEnv, timeoutMs });
  const turn = requestsPerSecond === undefined ? undefined : paced(MS_PER_S / requestsPerSecond);
  const live: BenchModel = {
    async answer(payload, signal) {
      await turn?.(signal);
      const { maxTokens, topP } = DECODING;
      return client.complete({ messages: [{ role: "user", content: payload }], maxTokens, topP }, cancelFrom(signal));
    },
  };
  return record === undefined ? live : recording(live, record);
}

/** Resolves for one caller after the other, at least so many milliseconds apart. */
export function paced(gapMs: number, now: () => number = () => performance.now()): (signal: AbortSignal) => Promise<void> {
  let next = 0;
  return async (signal) => {
    const at = Math.max(now(), next);
    next = at + gapMs;
    if (at > now()) await pause(at - now(), undefined, { signal });
  };
}
