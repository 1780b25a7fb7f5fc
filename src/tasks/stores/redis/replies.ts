import { AgentError } from "../../../envelope/index.js";

/** Typed readers of Redis replies: an unexpected shape is a bug and must not look like data. */
export function listOf(answer: unknown): readonly unknown[] {
  if (Array.isArray(answer)) return answer;
  throw unexpected();
}

export function textOf(answer: unknown): string {
  if (typeof answer === "string") return answer;
  throw unexpected();
}

export function numberOf(answer: unknown): number {
  const value = typeof answer === "string" && answer !== "" ? Number(answer) : answer;
  if (typeof value === "number" && !Number.isNaN(value)) return value;
  throw unexpected();
}

export function textsOf(answer: unknown): readonly string[] {
  return listOf(answer).map(textOf);
}

function unexpected(): AgentError {
  return new AgentError("internal", "the task store answered in an unexpected form");
}
