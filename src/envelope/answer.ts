import type { Envelope } from "./envelope.js";
import { type Part, textOf } from "./part.js";
import type { Task } from "./task.js";

/** The answer of a task: its artifacts if it has any, else the status message, else the agent's last message. */
export function answerOf(task: Task): readonly Part[] {
  if (task.artifacts.length > 0) return task.artifacts.flatMap(({ parts }) => parts);
  const message: Envelope | undefined = task.status.message ?? task.history.findLast(({ role }) => role === "agent");
  return message?.content ?? [];
}

/** The text of one artifact: its text parts joined without separator. */
export function artifactText(parts: readonly Part[]): string {
  return parts.map((part) => (part.kind === "text" ? part.text : "")).join("");
}

/** The text of a task's answer; one line per artifact. */
export function answerText(task: Task): string {
  if (task.artifacts.length === 0) return textOf(answerOf(task));
  return task.artifacts.map(({ parts }) => artifactText(parts)).join("\n");
}
