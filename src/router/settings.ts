import type { Maybe } from "../envelope/index.js";
import type { Features } from "../protocols/features.js";
import type { Embedder } from "./embedder.js";
import type { SecondOpinion } from "./second-opinion.js";

/** The groups of needs, strongest first, by which candidates are compared. */
export type Tier = "identity" | "operations" | "interaction";
export const PRIORITY: readonly Tier[] = ["identity", "operations", "interaction"];

/** Parts of the router that can be switched off, to measure their effect. */
export const ABLATIONS = ["locks", "priority", "narrative", "stance", "phrases", "embeddings"] as const;
export type Ablation = (typeof ABLATIONS)[number];

/** What happens where the text does not decide. */
export type AbstainPolicy =
  | { readonly kind: "ask" }
  | { readonly kind: "default"; readonly protocol: string }
  | { readonly kind: "model"; readonly opinion: SecondOpinion };

export interface RouterSettings {
  /** Rows of the feature model that take part, in the order of last resort. Default: the seeds' four. */
  readonly candidates?: Maybe<readonly Features[]>;
  readonly priority?: Maybe<readonly Tier[]>;
  /** Protocol names, best first: breaks ties among feasible candidates before the order of last resort does. */
  readonly ranking?: Maybe<readonly string[]>;
  readonly abstain?: Maybe<AbstainPolicy>;
  /** Called with the reason when a second opinion fails, for each module. */
  readonly onProblem?: Maybe<(module: string, because: string) => void>;
  /** `scenario`: one protocol for all modules. Default `module`. */
  readonly scope?: Maybe<"module" | "scenario">;
  /** Sentence embeddings, if the optional packages are installed. */
  readonly embedder?: Maybe<Embedder>;
  readonly without?: Maybe<readonly Ablation[]>;
}
