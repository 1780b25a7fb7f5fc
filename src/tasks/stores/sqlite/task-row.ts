import type { Maybe, State } from "../../../envelope/index.js";

/** What every step looks at. `n` names the task inside the file. */
export interface TaskRow {
  readonly n: number;
  readonly taskId: string;
  readonly owner: string;
  readonly agent: string;
  readonly contextId: string;
  readonly state: State;
  readonly statusAt: number;
  readonly seq: number;
  readonly bytes: number;
  readonly turn: number;
  readonly epoch: number;
  readonly holder: Maybe<string>;
  readonly cancelRequested: boolean;
  /** The caller's messages since the task began, and how many of them are queued. */
  readonly messages: number;
  readonly waiting: number;
  readonly pushes: number;
  /** The newest written snapshot, and how long the journal must be for the next to be worth writing. */
  readonly snapshotSeq: number;
  readonly snapshotNext: number;
}
