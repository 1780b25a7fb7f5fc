import type { Maybe } from "../../../envelope/index.js";
import type { TaskKeys } from "./keys.js";

/** A task leased through this store, and the mark of its lease hint. */
export interface RecentTask {
  readonly keys: TaskKeys;
  readonly mark: number;
}

/**
 * Finds the owner of a task for calls that name only the task. Every holder got its lease from this store, so
 * no index over all owners has to be written for each task. Two halves: when the young one is full it becomes the old one.
 */
export class RecentTasks {
  readonly #half: number;
  #young = new Map<string, RecentTask>();
  #old = new Map<string, RecentTask>();

  constructor(limit: number) {
    this.#half = Math.max(1, Math.floor(limit / 2));
  }

  get(taskId: string): Maybe<RecentTask> {
    const young = this.#young.get(taskId);
    if (young !== undefined) return young;
    const old = this.#old.get(taskId);
    if (old !== undefined) this.set(taskId, old);
    return old;
  }

  set(taskId: string, task: RecentTask): void {
    this.#old.delete(taskId);
    this.#young.set(taskId, task);
    if (this.#young.size < this.#half) return;
    this.#old = this.#young;
    this.#young = new Map();
  }
}
