import type { Memory } from "./step-memory.js";

/** The whole log of a question for a model: every message, step and tool call, in order of time. */
export function networkLog({ steps, messages }: Memory): string {
  const lines = [
    ...messages.map(({ ns, from, to, fact, value, delivery }) => ({ ns, line: { message: fact, from, to, value, delivery } })),
    ...steps.map(({ timestamps, step, agent_id, agent_name, status, tool_calls }) => ({
      ns: timestamps.ended_ns,
      line: { step, agent: agent_id, name: agent_name, status, tool_calls },
    })),
  ];
  return lines
    .toSorted((a, b) => a.ns - b.ns)
    .map(({ line }) => JSON.stringify(line))
    .join("\n");
}
