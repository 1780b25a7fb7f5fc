import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import { LIMITS } from "./limits.js";
import { plainLine } from "./plain-text.js";
import type { Missing } from "./roster.js";

/** Without it an assistant could not say why an agent that was asked for has no tool. */
export const MISSING_TOOL = "koine_missing_agents";

/** Listed only while somebody is missing. */
export function missingTool(): Tool {
  return {
    name: MISSING_TOOL,
    title: "Agents that are not reached",
    description: "Says which agents could not be reached so far, and why. They get tools of their own as soon as they answer.",
    inputSchema: { type: "object", properties: {}, additionalProperties: false },
    annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
  };
}

export function missingResult(missing: readonly Missing[]): CallToolResult {
  const lines = missing.map(
    ({ address, problem }) => `${address}: ${problem.code}: ${plainLine(problem.message, LIMITS.lineChars)}`,
  );
  return { content: [{ type: "text", text: lines.length === 0 ? "Every agent was reached." : lines.join("\n") }] };
}
