import type { Case, LabelledModule } from "./case.js";
import type { Plan } from "./plan.js";
import type { Cancel, Decision, Embedder, Features, Module, RouterSettings, Scenario, SecondOpinion } from "./router.js";

/** The scenarios of a file, and those that its reader had to leave out. */
export interface ReadFile {
  readonly scenarios: readonly Scenario[];
  readonly excluded: readonly {
    readonly scenario_id: string | undefined;
    /** Its index in the file. */
    readonly where: string;
    readonly because: string;
  }[];
}

/** The measured system: the router; tests use their own. */
export interface Engine {
  readonly candidates: readonly Features[];
  parse(text: string, name: string): Promise<ReadFile>;
  route(scenario: Scenario, settings: RouterSettings, cancel: Cancel): Promise<{ readonly decisions: readonly Decision[] }>;
  /** The candidates that satisfy every hard constraint. */
  feasible(scenario: Scenario, module: Module, settings: RouterSettings): readonly Features[];
}

/** A record that can be scored, or why there is none. */
export type Answer =
  | { readonly kind: "decision"; readonly decision: Decision }
  | { readonly kind: "none"; readonly because: string };

/** One module and its decision. */
export interface Entry {
  readonly of: Case;
  readonly module: LabelledModule;
  readonly answer: Answer;
}

/** All modules in the order of the files. */
export interface Run {
  readonly plan: Plan;
  readonly entries: readonly Entry[];
}

/** What a run uses: the router, and the embedder and model where its settings need them. */
export interface RunTools {
  readonly engine: Engine;
  readonly cancel: Cancel;
  /** Needed where the settings ask for embeddings. */
  readonly embedder?: Embedder | undefined;
  /** Needed for the mode `model`. */
  readonly opinion?: SecondOpinion | undefined;
  readonly onProgress?: ((run: string, done: number, total: number) => void) | undefined;
}
