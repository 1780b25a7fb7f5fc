import type { Worker } from "../../harness/processes.js";
import type { AgentTask } from "../processes/tasks.js";

/** An agent process and how to start it again. */
export interface AgentProcess {
  readonly name: string;
  readonly agents: readonly string[];
  /** Written before its command line. */
  readonly within: readonly string[];
  worker: Worker;
  task: AgentTask;
  restarts: number;
}
