import { type Envelope, isTerminal, type Maybe, type Task } from "../envelope/index.js";
import type { UpstreamEvent } from "../tasks/index.js";

/** A task elsewhere as events: its artifacts whole, then its status. What it said only in its history is said with the end. */
export function snapshotEvents(task: Task): readonly UpstreamEvent[] {
  const of = { taskId: task.id, contextId: task.contextId };
  const artifacts = task.artifacts.map(
    (artifact): UpstreamEvent => ({ kind: "artifact", ...of, artifact, append: false, last: true }),
  );
  const { status } = task;
  const message = status.message ?? (artifacts.length === 0 && isTerminal(status.state) ? lastWords(task) : undefined);
  // Nothing is known here that the task of the same name does not say by being there.
  if (status.state === "submitted" && message === undefined) return artifacts;
  return [...artifacts, { kind: "status", ...of, status: { ...status, message } }];
}

function lastWords({ history }: Task): Maybe<Envelope> {
  const last = history.at(-1);
  return last?.role === "agent" ? last : undefined;
}
