import type { PromptName } from "../prompts/prompts.js";
import type { Arm, Condition, Dispatch, Plan, Settings } from "../result/index.js";
import type { Metric } from "../result/result.js";

/** What is said, independent of how: neither a scenario nor a protocol names the other. */
export interface Scenario {
  readonly name: string;
  readonly about: string;
  /** The metric that decides. */
  readonly primary: Metric;
  /** Differences below it do not matter in this scenario. */
  readonly marginUs: number;
  /** The delay of the control arm that must be detected. */
  readonly doseMs: number;
  /** Agents, unless the user says otherwise. */
  readonly agents: number;
  readonly dispatch: Dispatch;
  /** Which agents call each other, and what they do with a message. Absent: none, and the model answers. */
  readonly topology?: Settings["topology"];
  readonly behaviour?: string;
  /** Where agents take their answers from, unless the user says otherwise. */
  readonly answers: Settings["model"];
  /** Where a model answers: what it is told, and what the coordinator writes around each question. Absent: the bare text. */
  readonly prompts?: { readonly system: PromptName; readonly task: PromptName };
  /** What `--freeze` may hold fixed in it. Absent: nothing. */
  readonly canFreeze?: Settings["freeze"];
  readonly quick: Sizes;
  readonly full: Sizes;
}

/** W, T_meas and R of the paper, and the limit of requests. */
export type Sizes = Pick<Settings, "runs" | "warmUpMs" | "measureMs" | "requests">;

export interface PlanParts {
  readonly scenario: Scenario;
  readonly mode: Plan["mode"];
  readonly settings: Settings;
  readonly arms: readonly Arm[];
  readonly conditions: readonly Condition[];
  readonly questions?: Plan["questions"];
  readonly routing?: Plan["routing"];
}
