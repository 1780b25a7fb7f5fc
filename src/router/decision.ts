import type { Maybe } from "../envelope/index.js";

/** A rejected candidate, and why. */
export interface Rejection {
  readonly protocol: string;
  readonly because: string;
}

/** The decision for one module. The members are a closed list with the names of the seed specification. */
export interface Decision {
  readonly scenario_id: string;
  readonly module_id: string;
  /** Null if the router abstains and no fallback answered. */
  readonly selected_protocol: string | null;
  /** Verbatim quotes from this module's input. */
  readonly evidence_spans: readonly string[];
  /** Names only evidence and capabilities; no digits, no performance claims. */
  readonly rationale: string;
  /** The lead over the next candidate, from 0 to 1, in hundredths. */
  readonly margin: number;
  /** The text alone did not decide. */
  readonly abstained: boolean;
  readonly rejected: readonly Rejection[];
  /** The hash of the prompt; only if a model answered. */
  readonly prompt_sha256?: Maybe<string>;
}

/** The members of a decision, in the order they are written. */
export const DECISION_FIELDS = [
  "scenario_id",
  "module_id",
  "selected_protocol",
  "evidence_spans",
  "rationale",
  "margin",
  "abstained",
  "rejected",
  "prompt_sha256",
] as const satisfies readonly (keyof Decision)[];
