import { setTimeout as pause } from "node:timers/promises";
import { AgentError } from "../../../src/index.js";
import { openAiModel } from "../../../src/public/models.js";
import { cancelFrom } from "../../../src/public/protocols.js";
import { readPrompt } from "../prompts/prompts.js";
import { streamCompletion } from "./completion-stream.js";
import { recording } from "./recording.js";
import { type BenchModel, DECODING, type ModelSettings } from "./settings.js";

const MS_PER_S = 1_000;

/**
 * A model behind the chat completions API, asked with the paper's decoding parameters. It never retries: the caller owns retries. `stream` reads its
 * answer as server-sent events, so that the first token is seen when it comes.
 */
export function openLiveModel(settings: Extract<ModelSettings, { kind: "live" }>): BenchModel {
  const { baseUrl, model, keyEnv, timeoutMs, requestsPerSecond, record } = settings;
  const client = openAiModel({ baseUrl, model, apiKeyEnv: keyEnv, timeoutMs });
  const system = settings.system === undefined ? undefined : readPrompt(settings.system);
  const turn = requestsPerSecond === undefined ? undefined : paced(MS_PER_S / requestsPerSecond);
  const { temperature, maxTokens, topP } = DECODING;
  const live: BenchModel = {
    async answer(payload, signal) {
      await turn?.(signal);
      return client.complete({ system, messages: [{ role: "user", content: payload }], maxTokens, topP }, cancelFrom(signal));
    },
    async *stream(payload, signal) {
      await turn?.(signal);
      const messages = [
        ...(system === undefined ? [] : [{ role: "system", content: system }]),
        { role: "user", content: payload },
      ];
      const body = { model, messages, temperature, top_p: topP, max_tokens: maxTokens, stream: true };
      yield* streamCompletion(
        { url: `${baseUrl.replace(/\/+$/, "")}/chat/completions`, headers: headersFor(keyEnv), body, timeoutMs },
        signal,
      );
    },
  };
  return record === undefined ? live : recording(live, record);
}

function headersFor(keyEnv: string | undefined): Readonly<Record<string, string>> {
  const headers = { accept: "text/event-stream", "content-type": "application/json" };
  const key = keyEnv === undefined ? undefined : process.env[keyEnv];
  if (keyEnv !== undefined && (key === undefined || key === ""))
    throw new AgentError("unauthenticated", `the key of the model is expected in ${keyEnv}, which is not set`, { sent: "no" });
  return key === undefined ? headers : { ...headers, authorization: `Bearer ${key}` };
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
