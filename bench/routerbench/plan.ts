import type { Ablation } from "./router.js";

/**
 * `spec`: the text and the feature model alone. `spec+perf`: a ranking breaks the ties that they leave. `model`: every module
 * is put to a language model, under the same hard constraints and the same linter.
 */
export const MODES = ["spec", "spec+perf", "model"] as const;
export type Mode = (typeof MODES)[number];

/** The order the seeds' measurements suggest. */
export const DEFAULT_RANKING: readonly string[] = ["A2A", "ACP", "ANP", "Agora"];

/** What decides the outcome, apart from the files. A manifest holds it, so it is plain data. */
export interface BenchSettings {
  readonly modes: readonly Mode[];
  readonly ablate: readonly Ablation[];
  readonly embeddings: boolean;
  /** Protocol names, best first; for `spec+perf` only. */
  readonly ranking: readonly string[];
  /** The model's name; null where none is asked. */
  readonly model: string | null;
}

/** The same, its members in one order: what is written must not depend on who made them. */
export function inOrder({ modes, ablate, embeddings, ranking, model }: BenchSettings): BenchSettings {
  return { modes, ablate, embeddings, ranking, model };
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
