import type { Envelope } from "./envelope.js";
import { type Part, textOf } from "./part.js";
import type { Task } from "./task.js";

/** What is the answer of a task? Its artifacts if it has any, else the status message, else the last thing the agent said. */
export function answerOf(task: Task): readonly Part[] {
  if (task.artifacts.length > 0) return task.artifacts.flatMap(({ parts }) => parts);
  const said: Envelope | undefined = task.status.message ?? task.history.findLast(({ role }) => role === "agent");
  return said?.content ?? [];
}

/** The text of one artifact: its parts are pieces of one text, put together as they came. */
export function artifactText(parts: readonly Part[]): string {
  return parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

/** The text of a task's answer; artifacts are texts of their own, one line each. */
export function answerText(task: Task): string {
  if (task.artifacts.length === 0) return textOf(answerOf(task));
  return task.artifacts.map(({ parts }) => artifactText(parts)).join("\n");
}
