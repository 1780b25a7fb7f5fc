import { type AgentEvent, type Maybe, RecentMap } from "../../envelope/index.js";
import type { Destination } from "../destination.js";
import { taskIdIn } from "../task-id.js";

/** Maps tasks to destinations, learned from answers. Keyed by owner, because task ids are only unique per destination. */
export class TaskAffinity {
  readonly #destinations: RecentMap<Destination>;

  /** Keeps the `limit` most recently used tasks. */
  constructor(limit: number) {
    this.#destinations = new RecentMap(limit);
  }

  of(owner: string, taskId: string): Maybe<Destination> {
    return this.#destinations.get(keyOf(owner, taskId));
  }

  learn(owner: string, event: AgentEvent, destination: Destination): void {
    if (event.kind === "tasks") {
      for (const { id } of event.tasks) this.#destinations.set(keyOf(owner, id), destination);
      return;
    }
    const taskId = taskIdIn(event);
    if (taskId !== undefined) this.#destinations.set(keyOf(owner, taskId), destination);
  }
}

/** The length prefix makes the key unambiguous. */
function keyOf(owner: string, taskId: string): string {
  return `${owner.length}:${owner}${taskId}`;
}
