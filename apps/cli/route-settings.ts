import { AgentError } from "../../src/index.js";
import type { LocalEmbedder } from "../../src/router/embeddings/index.js";
import {
  ABLATIONS,
  type AbstainPolicy,
  defaultCandidates,
  type Features,
  modelOpinion,
  PRIORITY,
  parseRanking,
  type RouterSettings,
  rowNamed,
} from "../../src/router/index.js";
import { usageError } from "./exit.js";
import { type ModelOptions, openModel } from "./model.js";
import { knownWords, wordsIn } from "./option-values.js";
import { named, readTextFile } from "./route-input.js";

export interface SettingOptions extends ModelOptions {
  readonly candidates?: string;
  readonly priority?: string;
  readonly ranking?: string;
  readonly scope: "module" | "scenario";
  readonly abstain: string;
  readonly embeddings?: boolean;
  readonly without?: string;
}

/** Settings, and the resources to close after the last decision. */
interface OpenSettings {
  readonly settings: RouterSettings;
  close(): Promise<void>;
}

export async function openSettings(
  options: SettingOptions,
  rows: readonly Features[],
  onProblem: (problem: string) => void = () => undefined,
): Promise<OpenSettings> {
  const { candidates, priority, ranking, scope, without } = options;
  const taking = candidates === undefined ? defaultCandidates(rows) : candidatesOf(candidates, rows);
  const ranked = ranking === undefined ? undefined : await rankingOf(ranking, rows);
  const embedder = options.embeddings === true ? await openEmbeddings() : undefined;
  const { policy, close } = abstainPolicy(options, taking, ranked !== undefined);
  return {
    settings: {
      candidates: taking,
      priority: priority === undefined ? undefined : knownWords(priority, "--priority", PRIORITY),
      ranking: ranked,
      abstain: policy,
      onProblem: (module, because) => onProblem(`${module}: the model gave no usable answer: ${because}`),
      scope,
      embedder,
      without: without === undefined ? undefined : knownWords(without, "--without", ABLATIONS),
    },
    close: async () => void (await Promise.all([close(), embedder?.close()])),
  };
}

function candidatesOf(list: string, rows: readonly Features[]): readonly Features[] {
  const found = wordsIn(list, "--candidates").map((word) => rowOf(word, "--candidates", rows));
  return [...new Set(found)];
}

function rowOf(word: string, option: string, rows: readonly Features[]): Features {
  const row = rowNamed(word, rows);
  if (row === undefined)
    throw usageError(
      `${option}: no protocol is called ${JSON.stringify(word)}`,
      `There are: ${rows.map(({ id }) => id).join(", ")}`,
    );
  return row;
}

async function rankingOf(file: string, rows: readonly Features[]): Promise<readonly string[]> {
  const text = await readTextFile(file);
  return named(file, () => parseRanking(text, rows));
}

interface OpenPolicy {
  readonly policy: AbstainPolicy;
  close(): Promise<void>;
}

function abstainPolicy(options: SettingOptions, taking: readonly Features[], ranked: boolean): OpenPolicy {
  const close = async (): Promise<void> => undefined;
  const [kind, word] = [options.abstain.split(":", 1)[0], options.abstain.slice(options.abstain.indexOf(":") + 1)];
  if (options.abstain === "ask") return { policy: { kind: "ask" }, close };
  if (kind === "default") return { policy: { kind: "default", protocol: rowOf(word, "--abstain default", taking).name }, close };
  if (options.abstain !== "model")
    throw usageError(`--abstain: ${JSON.stringify(options.abstain)} is not known`, "It is ask, default:<protocol>, or model.");
  const model = openModel(options);
  if (model === undefined) throw usageError("--abstain model needs a model", "Give --model-url and --model.");
  const opinion = modelOpinion({ model, variant: ranked ? "spec+perf" : "spec" });
  return { policy: { kind: "model", opinion }, close: () => model.close() };
}

/** Fetches nothing: a missing installation is a usage error. */
async function openEmbeddings(): Promise<LocalEmbedder> {
  const { openEmbedder } = await import("../../src/router/embeddings/index.js");
  try {
    return await openEmbedder();
  } catch (thrown) {
    throw thrown instanceof AgentError && thrown.code === "unsupported" ? usageError(`--embeddings: ${thrown.message}`) : thrown;
  }
}
