import type { Maybe } from "../envelope/index.js";
import type { CapabilityId } from "../protocols/features.js";

/**
 * What a piece of text is about. `name`: a title. `need`: what the module does or wants. `risk`: what must not happen, so that
 * "without encryption" asks for encryption. `must` and `mustNot`: the file itself says that this is demanded or ruled out.
 */
export type PassageKind = "name" | "need" | "risk" | "must" | "mustNot";

export interface Passage {
  readonly kind: PassageKind;
  readonly text: string;
}

/** A module as the router reads it, whatever file it came from. */
export interface Module {
  readonly id: string;
  /** What only this module says; evidence is quoted from here. */
  readonly passages: readonly Passage[];
  /** Requirements that need no prose. */
  readonly requires?: Maybe<readonly CapabilityId[]>;
  readonly avoids?: Maybe<readonly CapabilityId[]>;
  /** Protocol names: only these; none of these. */
  readonly only?: Maybe<readonly string[]>;
  readonly never?: Maybe<readonly string[]>;
  /** Ids of modules it talks to. */
  readonly neighbours?: Maybe<readonly string[]>;
  /** The expected answer, if the file has one. The router does not read it. */
  readonly label?: Maybe<string>;
}

export interface Scenario {
  readonly id: string;
  /** L1 to L5, if the file has it. The router does not read it. */
  readonly level?: Maybe<number>;
  /** Describes the whole scenario. Applies to a module only where it speaks of all modules. */
  readonly description: string;
  readonly modules: readonly Module[];
}
