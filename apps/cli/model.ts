import { type OpenAiModel, openAiModel } from "../../src/public/models.js";
import { usageError } from "./exit.js";

/** The language model of a command; optional. */
export interface ModelOptions {
  readonly modelUrl?: string;
  readonly model?: string;
  readonly modelKeyEnv?: string;
  readonly seed?: number;
  readonly temperature?: number;
}

/** Undefined if no model option is given. */
export function openModel({ modelUrl, model, modelKeyEnv, seed, temperature }: ModelOptions): OpenAiModel | undefined {
  if (modelUrl === undefined && model === undefined && modelKeyEnv === undefined) return undefined;
  if (modelUrl === undefined || model === undefined)
    throw usageError("a model needs its server and its name", "Give --model-url and --model.");
  if (!/^https?:\/\//.test(modelUrl) || !URL.canParse(modelUrl))
    throw usageError("--model-url takes an http or https address", "It looks like https://models.example/v1");
  if (modelKeyEnv !== undefined && (process.env[modelKeyEnv] ?? "") === "")
    throw usageError(`--model-key-env: the variable ${modelKeyEnv} is not set`);
  return openAiModel({
    baseUrl: modelUrl,
    model,
    seed,
    temperature,
    ...(modelKeyEnv === undefined ? {} : { apiKeyEnv: modelKeyEnv }),
  });
}
