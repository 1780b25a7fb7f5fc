import type { Cancel, Maybe } from "../envelope/index.js";
import type { Features } from "../protocols/features.js";
import type { Module, Scenario } from "./scenario.js";

/** What somebody else is asked where the router abstains. */
export interface OpenQuestion {
  readonly scenario: Scenario;
  readonly module: Module;
  /** The texts of which a quoted span must be a piece. */
  readonly input: readonly string[];
  /** Only what every hard constraint lets through. Never empty. */
  readonly feasible: readonly Features[];
  /** Protocol names, best first, for the variant of the prompt that knows them. */
  readonly ranking?: Maybe<readonly string[]>;
}

/** An answer that was checked: a feasible protocol, spans from the input, a rationale the linter takes. */
export interface Opinion {
  readonly protocol: string;
  readonly evidence_spans: readonly string[];
  readonly rationale: string;
  readonly prompt_sha256: string;
}

/** Undefined where no answer could be used; `because` then says why. Never throws for what the other side said. */
export type OpinionAnswer =
  | { readonly kind: "opinion"; readonly opinion: Opinion }
  | { readonly kind: "none"; readonly because: string; readonly prompt_sha256?: Maybe<string> };

/** Somebody to ask, such as a language model. */
export interface SecondOpinion {
  about(question: OpenQuestion, cancel: Cancel): Promise<OpinionAnswer>;
}
