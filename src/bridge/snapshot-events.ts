import { type Envelope, isTerminal, type Maybe, type Task } from "../envelope/index.js";
import type { UpstreamEvent } from "../tasks/index.js";

/** An upstream task as events: its artifacts, then its status. An answer only in its history becomes the message of the end. */
export function snapshotEvents(task: Task): readonly UpstreamEvent[] {
  const of = { taskId: task.id, contextId: task.contextId };
  const { status } = task;
  // An unfinished artifact may still grow.
  const last = isTerminal(status.state);
  const artifacts = task.artifacts.map((artifact): UpstreamEvent => ({ kind: "artifact", ...of, artifact, append: false, last }));
  const message = status.message ?? (artifacts.length === 0 && last ? lastMessage(task) : undefined);
  // A submitted task without a message adds nothing to the task of the gateway.
  if (status.state === "submitted" && message === undefined) return artifacts;
  return [...artifacts, { kind: "status", ...of, status: { ...status, message } }];
}

function lastMessage({ history }: Task): Maybe<Envelope> {
  const last = history.at(-1);
  return last?.role === "agent" ? last : undefined;
}
