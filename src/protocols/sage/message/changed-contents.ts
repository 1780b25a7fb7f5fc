import type { AgentEvent, Artifact, Awaitable, Envelope, Status, Task } from "../../../envelope/index.js";

/** What is done with the messages and artifacts of an event. */
export interface ContentChange {
  message(message: Envelope): Awaitable<Envelope>;
  /** A message in the history of a task. It may be of either side, and of an earlier call. */
  past(message: Envelope): Awaitable<Envelope>;
  artifact(artifact: Artifact): Awaitable<Artifact>;
}

/** An event with all its messages and artifacts changed, one after the other: records have an order. */
export async function changedContents(event: AgentEvent, change: ContentChange): Promise<AgentEvent> {
  switch (event.kind) {
    case "message":
      return { ...event, message: await change.message(event.message) };
    case "status":
      return { ...event, status: await inStatus(event.status, change) };
    case "artifact":
      return { ...event, artifact: await change.artifact(event.artifact) };
    case "task":
      return { ...event, task: await inTask(event.task, change) };
    case "tasks":
      return { ...event, tasks: await each(event.tasks, (task) => inTask(task, change)) };
    default:
      return event;
  }
}

/** How many messages and artifacts an event has, apart from the history of tasks. */
export function contentsIn(event: AgentEvent): number {
  switch (event.kind) {
    case "message":
    case "artifact":
      return 1;
    case "status":
      return contentsOfStatus(event.status);
    case "task":
      return contentsOfTask(event.task);
    case "tasks":
      return event.tasks.reduce((sum, task) => sum + contentsOfTask(task), 0);
    default:
      return 0;
  }
}

function contentsOfTask({ status, artifacts }: Task): number {
  return contentsOfStatus(status) + artifacts.length;
}

function contentsOfStatus({ message }: Status): number {
  return message === undefined ? 0 : 1;
}

async function inTask(task: Task, change: ContentChange): Promise<Task> {
  return {
    ...task,
    status: await inStatus(task.status, change),
    history: await each(task.history, (message) => change.past(message)),
    artifacts: await each(task.artifacts, (artifact) => change.artifact(artifact)),
  };
}

async function inStatus(status: Status, change: ContentChange): Promise<Status> {
  return status.message === undefined ? status : { ...status, message: await change.message(status.message) };
}

async function each<T>(items: readonly T[], change: (item: T) => Awaitable<T>): Promise<readonly T[]> {
  const changed: T[] = [];
  for (const item of items) changed.push(await change(item));
  return changed;
}
