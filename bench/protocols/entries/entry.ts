import type { PromptName } from "../prompts/prompts.js";

/** One entry of a queue: a question that some worker answers. */
export interface Entry {
  readonly id: string;
  readonly text: string;
  /** The agent that it is for, where entries name one. */
  readonly to?: string | undefined;
  /** What that agent is in the work on this entry, for an arm that calls modules in protocols of their own. */
  readonly module?: string | undefined;
}

/** Where the entries of a queue come from. Processes get this and read them by themselves. */
export type EntrySource = (
  | { readonly kind: "generated"; readonly count: number; readonly seed: number }
  | { readonly kind: "file"; readonly path: string }
  /** Made by a scenario. */
  | { readonly kind: "given"; readonly name: string; readonly entries: readonly Entry[] }
) & {
  /** What the coordinator writes around each question, where a model reads it. */
  readonly prompt?: PromptName | undefined;
};
