import { type AgentEvent, type Maybe, RecentMap } from "../../envelope/index.js";
import type { Destination } from "../destination.js";
import { taskIn } from "../task-named.js";

/** Whose task is where, as far as answers have told. Two callers may have tasks of one name at two places. */
export class TaskAffinity {
  readonly #places: RecentMap<Destination>;

  /** At most so many are remembered; what was not used lately is forgotten, and is asked for again. */
  constructor(limit: number) {
    this.#places = new RecentMap(limit);
  }

  of(owner: string, taskId: string): Maybe<Destination> {
    return this.#places.get(keyOf(owner, taskId));
  }

  learn(owner: string, event: AgentEvent, destination: Destination): void {
    if (event.kind === "tasks") {
      for (const { id } of event.tasks) this.#places.set(keyOf(owner, id), destination);
      return;
    }
    const taskId = taskIn(event);
    if (taskId !== undefined) this.#places.set(keyOf(owner, taskId), destination);
  }
}

/** The length keeps the two apart whatever characters they have. */
function keyOf(owner: string, taskId: string): string {
  return `${owner.length}:${owner}${taskId}`;
}
