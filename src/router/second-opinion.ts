import type { Cancel, Maybe } from "../envelope/index.js";
import type { Features } from "../protocols/features.js";
import type { Module, Scenario } from "./scenario.js";

/** The question to a second opinion when the router abstains. */
export interface OpenQuestion {
  readonly scenario: Scenario;
  readonly module: Module;
  /** The texts that evidence spans must be quoted from. */
  readonly input: readonly string[];
  /** The candidates that satisfy every hard constraint. Never empty. */
  readonly feasible: readonly Features[];
  /** Protocol names, best first, for the prompt variant with a ranking. */
  readonly ranking?: Maybe<readonly string[]>;
}

/** A checked answer: a feasible protocol, spans from the input, a rationale that passes the linter. */
export interface Opinion {
  readonly protocol: string;
  readonly evidence_spans: readonly string[];
  readonly rationale: string;
  readonly prompt_sha256: string;
}

/** `none` if no answer was usable, with the reason. Never throws for an invalid answer. */
export type OpinionAnswer =
  | { readonly kind: "opinion"; readonly opinion: Opinion }
  | { readonly kind: "none"; readonly because: string; readonly prompt_sha256?: Maybe<string> };

/** A fallback for abstentions, such as a language model. */
export interface SecondOpinion {
  about(question: OpenQuestion, cancel: Cancel): Promise<OpinionAnswer>;
}
