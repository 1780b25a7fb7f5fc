import type { Maybe } from "../envelope/index.js";
import type { Features } from "../protocols/features.js";
import type { Embedder } from "./embedder.js";
import type { SecondOpinion } from "./second-opinion.js";

/** The groups of needs, strongest first, by which candidates are compared. */
export type Tier = "identity" | "operations" | "interaction";
/** The default priority of the tiers. */
export const PRIORITY: readonly Tier[] = ["identity", "operations", "interaction"];

/** Parts of the router that can be switched off, to measure their effect. */
export const ABLATIONS = ["locks", "priority", "narrative", "stance", "phrases", "embeddings"] as const;
/** A part of the router that can be switched off. */
export type Ablation = (typeof ABLATIONS)[number];

/** What happens where the text does not decide. */
export type AbstainPolicy =
  | { readonly kind: "ask" }
  | { readonly kind: "default"; readonly protocol: string }
  | { readonly kind: "model"; readonly opinion: SecondOpinion };

/** Options of the router. */
export interface RouterSettings {
  /** Protocols that can be selected, in the order of last resort. Default: A2A, ACP, ANP and Agora. */
  readonly candidates?: Maybe<readonly Features[]>;
  /** The tiers, strongest first. Default: `PRIORITY`. */
  readonly priority?: Maybe<readonly Tier[]>;
  /** Protocol names, best first: breaks ties among feasible candidates before the order of last resort. Default: none. */
  readonly ranking?: Maybe<readonly string[]>;
  /** What happens where the text does not decide. Default: `ask`, no protocol is selected. */
  readonly abstain?: Maybe<AbstainPolicy>;
  /** Called with the reason when a second opinion fails, for each module. */
  readonly onProblem?: Maybe<(module: string, because: string) => void>;
  /** `scenario`: one protocol for all modules. Default `module`. */
  readonly scope?: Maybe<"module" | "scenario">;
  /** Sentence embeddings, if the optional packages are installed. Default: none. */
  readonly embedder?: Maybe<Embedder>;
  /** Parts of the router to switch off. Default: none. */
  readonly without?: Maybe<readonly Ablation[]>;
}
