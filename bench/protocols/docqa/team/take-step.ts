import { FINAL_TOOL, type TeamStep, type ToolCall } from "../plan/manifest.js";
import { ToolError } from "../tools/tool.js";
import { type Complete, isPerItem, type Toolbox } from "../tools/toolbox.js";
import type { Conversation } from "./conversation.js";
import type { FactValue } from "./message.js";

/** A tool call as the memory keeps it. */
export interface CallRecord {
  readonly tool: string;
  readonly given: string;
  readonly result: string;
  readonly failure?: string | undefined;
}

export interface StepTools {
  readonly toolbox: Pick<Toolbox, "call">;
  readonly complete: Complete;
  readonly signal: AbortSignal;
  record(call: CallRecord): void;
}

/** Calls the tools of a step, each with what the earlier ones gave. Throws ToolError. */
export async function takeStep(step: TeamStep, conversation: Conversation, tools: StepTools): Promise<void> {
  for (const call of step.calls) {
    const filled = conversation.argumentsOf(call, isPerItem(call.tool));
    const found: string[] = [];
    for (const { given, extract } of filled) found.push(...factsIn(await callTool(call, given, tools), extract, call));
    const value: FactValue = filled.length > 1 || call.as !== undefined ? found : (found[0] ?? "");
    conversation.learn(call.gives, value, { last: true, several: false });
  }
}

async function callTool(call: ToolCall, given: Readonly<Record<string, string>>, tools: StepTools): Promise<string> {
  const shown = JSON.stringify(given);
  try {
    const result =
      call.tool === FINAL_TOOL
        ? await tools.complete(given["answer"] ?? "", tools.signal)
        : await tools.toolbox.call(call.tool, given, tools.signal);
    tools.record({ tool: call.tool, given: shown, result });
    return result;
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    const failure = error instanceof ToolError ? error.reason : "failed";
    tools.record({ tool: call.tool, given: shown, result: error.message, failure });
    throw error instanceof ToolError ? error : new ToolError("failed", error.message);
  }
}

/** The facts in a result: what the expression finds, or the whole. */
function factsIn(result: string, extract: RegExp | undefined, { as, gives }: ToolCall): readonly string[] {
  if (extract === undefined) return [result];
  const matches = [...result.matchAll(extract)].map(([whole, group]) => group ?? whole);
  if (matches.length === 0) throw new ToolError("not_found", `the result does not say ${gives}`);
  if (as === "each") return matches;
  const [first = ""] = matches;
  return as === "list" ? first.split(",").map((each) => each.trim()) : [first];
}
