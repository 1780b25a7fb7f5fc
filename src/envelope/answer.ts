import type { Envelope } from "./envelope.js";
import type { Part } from "./part.js";
import type { Task } from "./task.js";

/** What is the answer of a task? Its artifacts if it has any, else the status message, else the last thing the agent said. */
export function answerOf(task: Task): readonly Part[] {
  if (task.artifacts.length > 0) return task.artifacts.flatMap(({ parts }) => parts);
  const said: Envelope | undefined = task.status.message ?? task.history.findLast(({ role }) => role === "agent");
  return said?.content ?? [];
}
