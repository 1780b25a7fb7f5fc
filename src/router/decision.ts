import type { Maybe } from "../envelope/index.js";

/** A candidate that was not taken, and why. */
export interface Rejection {
  readonly protocol: string;
  readonly because: string;
}

/** What is said about one module. The members are a closed list; the names are those of the seed. */
export interface Decision {
  readonly scenario_id: string;
  readonly module_id: string;
  /** Null where the router abstains and nobody else answered. */
  readonly selected_protocol: string | null;
  /** Pieces of this module's input, word for word. */
  readonly evidence_spans: readonly string[];
  /** Names only evidence and capabilities; neither digits nor talk of speed. */
  readonly rationale: string;
  /** How far ahead of the next candidate, from 0 to 1, in hundredths. */
  readonly margin: number;
  /** The text alone did not decide. */
  readonly abstained: boolean;
  readonly rejected: readonly Rejection[];
  /** Of the prompt that was put to a model; only where a model answered. */
  readonly prompt_sha256?: Maybe<string>;
}

/** What a decision may hold, in the order it is written. */
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
