import type { RunTools } from "./entry.js";
import type { InputFile } from "./inputs.js";
import {
  cancelFrom,
  defaultCandidates,
  type FunctionCallingModel,
  feasibleCandidates,
  type LocalEmbedder,
  modelOpinion,
  parseRanking,
  parseScenarioText,
  route,
} from "./router.js";

/** Options of `openTools`. */
export interface ToolOptions extends Pick<RunTools, "onProgress"> {
  /** Ends the runs. */
  readonly signal: AbortSignal;
  /** Whether the runs need sentence embeddings. */
  readonly embeddings: boolean;
  /** For the mode `model`. */
  readonly model?: FunctionCallingModel | undefined;
  /** The instructions of the model. Default: the router's own. */
  readonly prompt?: InputFile | undefined;
}

/** For as long as runs need them. */
export interface OpenTools {
  readonly tools: RunTools;
  close(): Promise<void>;
}

/** The router itself, with the candidates it has by default. Throws `unsupported` where embeddings are not installed. */
export async function openTools({ signal, embeddings, model, prompt, onProgress }: ToolOptions): Promise<OpenTools> {
  const embedder = embeddings ? await openEmbeddings() : undefined;
  const tools: RunTools = {
    onProgress,
    cancel: cancelFrom(signal),
    embedder,
    opinion: model && modelOpinion({ model, template: prompt?.text }),
    engine: {
      candidates: defaultCandidates(),
      parse: (text, name) => parseScenarioText(text, name, { answers: true }),
      route,
      feasible: feasibleCandidates,
    },
  };
  return { tools, close: async () => embedder?.close() };
}

/** Hardly anybody needs them, and they are heavy. */
async function openEmbeddings(): Promise<LocalEmbedder> {
  const { openEmbedder } = await import("../../src/router/embeddings/index.js");
  return openEmbedder();
}

/** The ranking of a file, the best first. Throws AgentError for names that are no protocols. */
export function rankingIn({ text }: InputFile): Promise<readonly string[]> {
  return parseRanking(text, defaultCandidates());
}
