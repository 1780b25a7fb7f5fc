import type { Maybe } from "../envelope/index.js";
import type { CapabilityId } from "../protocols/features.js";

/**
 * The kind of a passage. `name`: a title. `need`: what the module does or needs. `risk`: what must not happen, so that
 * "without encryption" implies encryption. `must` and `mustNot`: requirements and exclusions stated by the file itself.
 */
export type PassageKind = "name" | "need" | "risk" | "must" | "mustNot";

/** A passage of a module's text, by kind. */
export interface Passage {
  readonly kind: PassageKind;
  readonly text: string;
}

/** A module as the router reads it, whatever file it came from. */
export interface Module {
  readonly id: string;
  /** The module's own text; evidence is quoted from here. */
  readonly passages: readonly Passage[];
  /** Requirements that need no prose. */
  readonly requires?: Maybe<readonly CapabilityId[]>;
  readonly avoids?: Maybe<readonly CapabilityId[]>;
  /** Protocol names: only these; none of these. */
  readonly only?: Maybe<readonly string[]>;
  readonly never?: Maybe<readonly string[]>;
  /** Ids of the modules it communicates with. */
  readonly neighbours?: Maybe<readonly string[]>;
  /** The expected answer, if the file has one. The router does not read it. */
  readonly label?: Maybe<string>;
}

/** A scenario: modules that work together, described in text. */
export interface Scenario {
  readonly id: string;
  /** L1 to L5, if the file has it. The router does not read it. */
  readonly level?: Maybe<number>;
  /** Describes the whole scenario. Applies to a module only where it is about all modules. */
  readonly description: string;
  readonly modules: readonly Module[];
}
