import { z } from "zod";
import { LEVELS } from "../data/questions.js";

/** Version of the planner's manifest. Raised when a member changes its meaning. */
export const TEAM_VERSION = 1;

export const TASK_TYPES = [
  "qa_with_reasoning",
  "multi_step_analysis",
  "content_generation",
  "computational_task",
  "research_task",
  "general_qa",
] as const;
export const COMPLEXITIES = ["low", "medium", "high"] as const;

/** Our names, and those of the paper for the same tools. */
export const TOOL_NAMES = [
  "search_documents",
  "read_table",
  "run_code",
  "compute",
  "browser_use",
  "str_replace_editor",
  "python_execute",
  "create_chat_completion",
] as const;
export type ToolName = (typeof TOOL_NAMES)[number];

/** Agents by level: what the planner recommends. */
export const RECOMMENDED_AGENTS = { 1: 2, 2: 4, 3: 8 } as const;
export const MAX_AGENTS = 10;
export const FINAL_TOOL = "create_chat_completion";

/** The steps that a complexity means, at least and at most. */
export const STEPS_OF = { low: [1, 2], medium: [3, 5], high: [6, 64] } as const;

const id = z.string().regex(/^agent-\d{1,2}$/);
const fact = z.string().regex(/^[a-z]{1,20}$/);
const text = z.string().max(2_000);
const tool = z.enum(TOOL_NAMES);

/** One tool call of an agent. `{fact}` in an argument is replaced by what the agent knows by then. */
const CALL = z.strictObject({
  tool,
  arguments: z.record(z.string(), text),
  /** The fact that is in the result: the first group of this expression, or the whole result. */
  extract: z.string().max(200).optional(),
  gives: fact,
  /** `list`: the fact is a list, divided at commas. `each`: every match, one message each, in their order. */
  as: z.enum(["list", "each"]).optional(),
});
export type ToolCall = z.infer<typeof CALL>;

/** A turn of an agent, taken once when it knows what the step needs. */
const STEP = z.strictObject({
  step: z.number().int().min(1),
  needs: z.array(fact),
  calls: z.array(CALL).min(1),
});
export type TeamStep = z.infer<typeof STEP>;

const AGENT = z.strictObject({
  id,
  name: z.string().min(1).max(60),
  role: z.string().min(1).max(60),
  /** The first of its tools, as the paper has it. */
  tool,
  tools: z.array(tool).min(1).max(TOOL_NAMES.length),
  /** The versioned template of its system prompt. */
  prompt: z.string().min(1).max(100),
  steps: z.array(STEP).min(1),
});
export type TeamAgent = z.infer<typeof AGENT>;

/** Part of the message flow: a fact that one agent sends to another when its step is done. */
const FLOW = z.strictObject({ step: z.number().int().min(1), from: id, to: id, fact });
export type Flow = z.infer<typeof FLOW>;

/** What a tool takes and gives. */
const TOOL_INTERFACE = z.strictObject({
  name: tool,
  description: text,
  arguments: z.record(z.string(), text),
  output: text,
});
export type ToolInterface = z.infer<typeof TOOL_INTERFACE>;

/** The team for one question. The same for all arms: only protocols differ. */
export const TEAM = z.strictObject({
  version: z.literal(TEAM_VERSION),
  task_id: z.string().min(1).max(60),
  question: text,
  level: z.literal([...LEVELS]),
  /** By rule, or the name of the model that planned. */
  planner: z.string().min(1).max(200),
  seed: z.number().int().nonnegative(),
  task_type: z.enum(TASK_TYPES),
  complexity: z.enum(COMPLEXITIES),
  required_tools: z.array(tool).min(1),
  agents: z.array(AGENT).min(2).max(MAX_AGENTS),
  estimated_steps: z.number().int().min(1).max(64),
  domain_areas: z.array(z.string().min(1).max(60)).max(10),
  recommended_agents: z.number().int().min(1),
  max_agents: z.number().int().min(1),
  tools: z.array(TOOL_INTERFACE),
  topology: z.literal("dynamic star"),
  workflow: z.strictObject({
    /** Gets the question and answers it: the centre of the star. */
    final: id,
    /** Other agents with a step that needs no fact: the centre sends them the question. */
    start: z.array(id),
    message_flow: z.array(FLOW),
  }),
});
export type Team = z.infer<typeof TEAM>;

/** JSON Schema of a planner's manifest. */
export function teamJsonSchema(): object {
  return { title: "Koine DocQA team", ...z.toJSONSchema(TEAM) };
}

/** What is wrong with a team beyond its shape. Empty: it can be executed. */
export function teamProblems(team: Team): readonly string[] {
  const { agents, workflow, complexity, estimated_steps: steps } = team;
  const ids = agents.map((agent) => agent.id);
  const last = agents.at(-1);
  const finals = agents.flatMap(callsOf).filter((call) => call.tool === FINAL_TOOL).length;
  const [least, most] = STEPS_OF[complexity];
  const named = [workflow.final, ...workflow.start, ...workflow.message_flow.flatMap(({ from, to }) => [from, to])];
  return [
    ...(new Set(ids).size < ids.length ? ["two agents have one id"] : []),
    ...named.filter((each) => !ids.includes(each)).map((each) => `the workflow names ${each}, which is no agent`),
    ...(finals === 1 && last !== undefined && callsOf(last).at(-1)?.tool === FINAL_TOOL && last.id === workflow.final
      ? []
      : [`${FINAL_TOOL} is called exactly once, last, by the final agent`]),
    ...(steps < least || steps > most ? [`${complexity} means ${least} to ${most} steps, not ${steps}`] : []),
    ...agents.flatMap((agent) =>
      callsOf(agent)
        .filter((call) => !agent.tools.includes(call.tool))
        .map((call) => `${agent.id} calls ${call.tool}, which it does not have`),
    ),
    ...agents.flatMap((agent) => unmetNeeds(agent, workflow)),
  ];
}

function callsOf({ steps }: TeamAgent): readonly ToolCall[] {
  return steps.flatMap(({ calls }) => calls);
}

function unmetNeeds(agent: TeamAgent, { message_flow: flow }: Team["workflow"]): readonly string[] {
  const known = new Set([
    ...flow.filter(({ to }) => to === agent.id).map((each) => each.fact),
    ...callsOf(agent).map(({ gives }) => gives),
  ]);
  return agent.steps
    .flatMap(({ needs }) => needs)
    .filter((each) => !known.has(each))
    .map((each) => `${agent.id} needs ${each}, which nobody sends`);
}
