import type { Envelope } from "./envelope.js";
import type { EventOf } from "./event.js";
import type { Part } from "./part.js";
import type { Artifact, Status, Task } from "./task.js";

/** The events of a task's log: the task first, then its changes. */
export type TaskEvent = EventOf<"task.subscribe">;

/**
 * Builds a task from its events. Each event costs only what it adds, so that a long chunked artifact stays linear; `snapshot` copies
 * and is taken on demand.
 */
export class TaskFold {
  #task: Task;
  #status: Status;
  #artifacts = new Map<string, { artifact: Artifact; parts: Part[] }>();
  #history: Envelope[];

  constructor(task: Task) {
    this.#task = task;
    this.#status = task.status;
    this.#history = [...task.history];
    for (const artifact of task.artifacts) this.#put(artifact, false);
  }

  apply(event: TaskEvent): void {
    switch (event.kind) {
      case "task":
        this.#task = event.task;
        this.#status = event.task.status;
        this.#history = [...event.task.history];
        this.#artifacts.clear();
        for (const artifact of event.task.artifacts) this.#put(artifact, false);
        return;
      case "status": {
        // A status message moves to the history when the next status replaces it.
        const replaced = this.#status.message;
        if (replaced !== undefined) this.#history.push(replaced);
        this.#status = event.status;
        return;
      }
      case "artifact":
        this.#put(event.artifact, event.append);
        return;
      default:
        event satisfies never;
    }
  }

  /** Adds a message of the caller to the running task. */
  addMessage(message: Envelope): void {
    this.#history.push(message);
  }

  /** Member by member: a spread costs several times as much, and every task that is created is answered with a snapshot. */
  snapshot(): Task {
    const { id, contextId, metadata } = this.#task;
    const artifacts: Artifact[] = [];
    for (const held of this.#artifacts.values()) artifacts.push(copyOf(held));
    return { id, contextId, status: this.#status, artifacts, history: [...this.#history], metadata };
  }

  #put(artifact: Artifact, append: boolean): void {
    const before = this.#artifacts.get(artifact.id);
    if (before !== undefined && append) before.parts.push(...artifact.parts);
    else this.#artifacts.set(artifact.id, { artifact, parts: [...artifact.parts] });
  }
}

function copyOf({ artifact, parts }: { readonly artifact: Artifact; readonly parts: readonly Part[] }): Artifact {
  const { id, name, description, metadata, extensions } = artifact;
  return { id, name, description, parts: [...parts], metadata, extensions };
}
