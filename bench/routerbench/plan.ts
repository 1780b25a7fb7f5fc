import type { Ablation } from "./router.js";
import type { Half } from "./split.js";

/**
 * `spec`: the text and the feature model alone. `spec+perf`: a ranking breaks the ties that they leave. `model`: every module
 * is put to a language model, under the same hard constraints and the same linter.
 */
export const MODES = ["spec", "spec+perf", "model"] as const;
/** A way to select protocols: from the text alone, with measured performance as a tie-break, or with a language model. */
export type Mode = (typeof MODES)[number];

/** The order the seeds' measurements suggest. */
export const DEFAULT_RANKING: readonly string[] = ["A2A", "ACP", "ANP", "Agora"];

/** The settings that determine the result, apart from the files. Stored in the manifest, so it is plain data. */
export interface BenchSettings {
  /** The modes to run. */
  readonly modes: readonly Mode[];
  /** The parts of the router to switch off, one run each. */
  readonly ablate: readonly Ablation[];
  /** Whether sentence embeddings take part. */
  readonly embeddings: boolean;
  /** Protocol names, best first; for `spec+perf` only. */
  readonly ranking: readonly string[];
  /** The model's name; null if none is used. */
  readonly model: string | null;
  /** Divides the scenarios into halves, and is sent to the model. */
  readonly seed: number;
  /** Sent to the model. */
  readonly temperature: number;
  /** The half of the scenarios that is measured; null: all of them. */
  readonly split: Half | null;
}

/** The same with a fixed member order: the output must not depend on the caller. */
export function inOrder(settings: BenchSettings): BenchSettings {
  const { modes, ablate, embeddings, ranking, model, seed, temperature, split } = settings;
  return { modes, ablate, embeddings, ranking, model, seed, temperature, split };
}

/** One run over all cases. */
export interface Plan {
  readonly name: string;
  readonly mode: Mode;
  readonly without: readonly Ablation[];
}

/** The modes as they are, then each once more without each of the parts. A model has no parts to take away. */
export function plansOf({ modes, ablate }: Pick<BenchSettings, "modes" | "ablate">): readonly Plan[] {
  const full = modes.map((mode): Plan => ({ name: mode, mode, without: [] }));
  const ablated = full
    .filter(({ mode }) => mode !== "model")
    .flatMap(({ mode }) => ablate.map((part): Plan => ({ name: `${mode} without ${part}`, mode, without: [part] })));
  return [...full, ...ablated];
}
