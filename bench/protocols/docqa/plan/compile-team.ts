import type { Question } from "../data/questions.js";
import { INTERFACES, ownName } from "../tools/interfaces.js";
import {
  FINAL_TOOL,
  type Flow,
  MAX_AGENTS,
  RECOMMENDED_AGENTS,
  STEPS_OF,
  TEAM_VERSION,
  type Team,
  type TeamAgent,
  type ToolCall,
  type ToolName,
  teamProblems,
} from "./manifest.js";
import { RECIPES, type Recipe, type RecipeStep } from "./recipes.js";

/** An agent as a planner proposes it. */
export interface ProposedAgent {
  readonly tool: ToolName;
  readonly name: string;
  readonly role: string;
}

/** What a planner says about a question: the paper's fields. */
export interface Analysis extends Pick<Team, "task_type" | "complexity" | "estimated_steps"> {
  readonly required_tools: readonly ToolName[];
  readonly agents: readonly ProposedAgent[];
  readonly domain_areas: readonly string[];
}

/** A plan that cannot be executed, with the reasons. */
export class PlanError extends Error {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("; "));
    this.problems = problems;
  }
}

/** The template that roles are filled into. */
const ROLE_PROMPT = "docqa-role.v1";

/** Gives every step of a question to one of the proposed agents, and writes down who sends what to whom. */
export function compileTeam(
  question: Question,
  analysis: Analysis,
  { planner, seed }: { readonly planner: string; readonly seed: number },
): Team {
  const recipe = RECIPES[question.kind];
  const owners = assignSteps(recipe, analysis.agents);
  const used = analysis.agents.filter((agent) => owners.includes(agent));
  const idOf = (agent: ProposedAgent | undefined): string => `agent-${agent === undefined ? 0 : used.indexOf(agent) + 1}`;
  const agents = used.map((agent) => teamAgent(agent, idOf(agent), recipe, owners));
  const flow = flowOf(recipe, (step) => idOf(owners[step]));
  const final = agents.at(-1)?.id ?? "";
  const tools = [...new Set(agents.flatMap((agent) => agent.tools))];
  const team: Team = {
    version: TEAM_VERSION,
    task_id: question.id,
    question: question.text,
    level: question.level,
    planner,
    seed,
    task_type: analysis.task_type,
    complexity: analysis.complexity,
    required_tools: tools,
    agents,
    estimated_steps: analysis.estimated_steps,
    domain_areas: [...analysis.domain_areas],
    recommended_agents: RECOMMENDED_AGENTS[question.level],
    max_agents: MAX_AGENTS,
    tools: tools.map((tool) => INTERFACES[tool]),
    topology: "dynamic star",
    workflow: {
      final,
      start: agents.filter(({ id, steps }) => id !== final && steps.some(({ needs }) => needs.length === 0)).map(({ id }) => id),
      message_flow: [...flow],
    },
  };
  const problems = [...teamProblems(team), ...(agents.length < 2 ? ["one agent alone sends no message"] : [])];
  if (problems.length > 0) throw new PlanError(problems);
  return team;
}

/** By rule: one agent for each step of the recipe. */
export function analyseByRule({ kind, level }: Question): Analysis {
  const recipe = RECIPES[kind];
  const agents = recipe.steps.map(({ name, role, calls }) => ({ name, role, tool: primaryTool(calls) }));
  const steps = recipe.steps.length;
  if (steps !== RECOMMENDED_AGENTS[level]) throw new Error(`the recipe of ${kind} has ${steps} steps`);
  return {
    task_type: recipe.taskType,
    complexity: complexityOf(steps),
    required_tools: [...new Set(recipe.steps.flatMap(({ calls }) => calls.map(({ tool }) => tool)))],
    agents,
    estimated_steps: steps,
    domain_areas: recipe.domains,
  };
}

export function complexityOf(steps: number): Team["complexity"] {
  return steps <= STEPS_OF.low[1] ? "low" : steps <= STEPS_OF.medium[1] ? "medium" : "high";
}

/** The tool that makes an agent what it is: for the one that answers, answering. */
function primaryTool(calls: readonly ToolCall[]): ToolName {
  const final = calls.find(({ tool }) => tool === FINAL_TOOL);
  return (final ?? calls[0])?.tool ?? FINAL_TOOL;
}

/** The agent of each step: the last step goes to the last agent, the others in turn to those with their tool. */
function assignSteps({ steps }: Recipe, agents: readonly ProposedAgent[]): readonly ProposedAgent[] {
  const last = agents.at(-1);
  if (last?.tool !== FINAL_TOOL || agents.filter(({ tool }) => tool === FINAL_TOOL).length !== 1)
    throw new PlanError([`${FINAL_TOOL} belongs to the last agent, and to no other`]);
  if (agents.length > MAX_AGENTS) throw new PlanError([`${agents.length} agents, and a team may have ${MAX_AGENTS}`]);
  const turns = new Map<ToolName, number>();
  return steps.map(({ calls }, index) => {
    if (index === steps.length - 1) return last;
    const tool = primaryTool(calls);
    const able = agents.filter((agent) => ownName(agent.tool) === tool);
    const turn = turns.get(tool) ?? 0;
    turns.set(tool, turn + 1);
    const agent = able[turn % Math.max(1, able.length)];
    if (agent === undefined) throw new PlanError([`no agent has ${tool}, which step ${index + 1} needs`]);
    return agent;
  });
}

function teamAgent(agent: ProposedAgent, id: string, { steps }: Recipe, owners: readonly ProposedAgent[]): TeamAgent {
  const own = steps.flatMap((step, index) => (owners[index] === agent ? [{ step, number: index + 1 }] : []));
  return {
    id,
    name: agent.name,
    role: agent.role,
    tool: agent.tool,
    tools: [...new Set([agent.tool, ...own.flatMap(({ step }) => step.calls.map(({ tool }) => tool))])],
    prompt: ROLE_PROMPT,
    steps: own.map(({ step, number }) => ({ step: number, needs: [...step.needs], calls: [...step.calls] })),
  };
}

/** Every fact goes from the agent that finds it to each one that needs it, once. */
function flowOf({ steps }: Recipe, ownerOf: (step: number) => string): readonly Flow[] {
  const sources = new Map<string, number>();
  for (const [index, { calls }] of steps.entries()) for (const { gives } of calls) sources.set(gives, index);
  const flows = new Map<string, Flow>();
  for (const [index, step] of steps.entries())
    for (const flow of flowsTo(step, index)) flows.set(`${flow.from} ${flow.to} ${flow.fact}`, flow);
  return [...flows.values()].sort((a, b) => a.step - b.step);

  function flowsTo({ needs }: RecipeStep, index: number): readonly Flow[] {
    return needs.flatMap((fact) => {
      const source = sources.get(fact);
      if (source === undefined || ownerOf(source) === ownerOf(index)) return [];
      return [{ step: source + 1, from: ownerOf(source), to: ownerOf(index), fact }];
    });
  }
}
