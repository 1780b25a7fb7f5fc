import type { EntrySource } from "../entries/entry.js";
import type { ModelSettings } from "../models/settings.js";
import type { Program } from "../processes/tasks.js";
import type { Arm, BenchEvent, Condition, PlannedRun, Settings } from "../result/index.js";
import type { ProgramFiles } from "./programs.js";

/** What a run is staged from. */
export interface StageParts {
  readonly planned: PlannedRun;
  readonly arm: Arm;
  readonly condition: Condition;
  readonly settings: Settings;
  readonly model: ModelSettings;
  readonly entries?: EntrySource | undefined;
  /** What the behaviour of the agents is given. */
  readonly data?: unknown;
  readonly files: ProgramFiles;
  /** The two programs of an implementation in another language. */
  readonly programs?: { readonly agent: Program; readonly caller: Program } | undefined;
  /** The ports of the proxies begin here. Default: any free ones. */
  readonly basePort?: number | undefined;
  /** Where private keys are while the run lasts. */
  readonly identityFolder: string;
  /** Where agents keep what survives their process. */
  readonly stateFolder: string;
  /** How long a process may take to start. */
  readonly startMs: number;
  emit(event: BenchEvent): void;
}
