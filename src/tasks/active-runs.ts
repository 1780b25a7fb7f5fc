import type { AgentError, Maybe } from "../envelope/index.js";

/** A run as seen by code that awaits or stops it. */
export interface Running {
  readonly taskId: string;
  readonly owner: string;
  readonly epoch: number;
  readonly restartable: boolean;
  /** Resolves when the task is closed. */
  stop(state: "failed" | "canceled", reason: AgentError): Promise<void>;
  /** Stops writing: another process holds the task. */
  abandon(reason: AgentError): void;
}

/** The runs of a runtime by task id. The tables that a map outgrew keep what was in them (see `Slots`): places, which are emptied. */
export class ActiveRuns {
  readonly #places = new Map<string, { run: Maybe<Running> }>();

  get(taskId: string): Maybe<Running> {
    return this.#places.get(taskId)?.run;
  }

  get all(): readonly Running[] {
    return Array.from(this.#places.values(), ({ run }) => run).filter((run) => run !== undefined);
  }

  add(run: Running): void {
    this.#places.set(run.taskId, { run });
  }

  /** Does nothing if another run of the task has taken its place. */
  remove(run: Running): void {
    const place = this.#places.get(run.taskId);
    if (place?.run !== run) return;
    place.run = undefined;
    this.#places.delete(run.taskId);
  }
}
