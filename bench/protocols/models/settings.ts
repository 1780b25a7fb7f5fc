import type { PromptName } from "../prompts/prompts.js";

/** Produces the answer of an agent. */
export interface BenchModel {
  answer(payload: string, signal: AbortSignal): Promise<string>;
  /** The same answer in pieces, as they come. Absent: it is there as a whole. */
  stream?(payload: string, signal: AbortSignal): AsyncIterable<string>;
}

/** How agents answer. Closed: `openModel` has a case for each. */
export type ModelSettings =
  | { readonly kind: "null" }
  | {
      readonly kind: "scripted";
      readonly seed: number;
      readonly meanMs: number;
      /** The deviation of service times by their mean. Absent: they are exponential. */
      readonly spread?: number | undefined;
    }
  | { readonly kind: "recorded"; readonly file: string }
  | {
      readonly kind: "live";
      readonly baseUrl: string;
      readonly model: string;
      readonly keyEnv?: string | undefined;
      readonly requestsPerSecond?: number | undefined;
      readonly timeoutMs: number;
      /** What the model is told before every question. */
      readonly system?: PromptName | undefined;
      /** Where answers are kept for a later run with `recorded`. */
      readonly record?: string | undefined;
    };

/** The paper's decoding parameters. */
export const DECODING = { temperature: 0, topP: 1, maxTokens: 4096 } as const;
