import { z } from "zod";
import { isProblem, readJsonReply } from "../../models/json-reply.js";
import type { BenchModel } from "../../models/settings.js";
import { fillPrompt } from "../../prompts/prompts.js";
import type { Question } from "../data/questions.js";
import { INTERFACES } from "../tools/interfaces.js";
import { compileTeam, PlanError } from "./compile-team.js";
import { COMPLEXITIES, MAX_AGENTS, RECOMMENDED_AGENTS, TASK_TYPES, type Team, TOOL_NAMES } from "./manifest.js";
import type { PlannedQuestion } from "./planned-question.js";

export const PLANNER_PROMPT = "docqa-planner.v1";
/** Replies to one question before it is given up: the second is told what was wrong with the first. */
const TRIES = 3;

const name = z.string().min(1).max(60);
const tool = z.enum(TOOL_NAMES);
const ANALYSIS = z.object({
  task_type: z.enum(TASK_TYPES),
  complexity: z.enum(COMPLEXITIES),
  required_tools: z.array(tool).max(TOOL_NAMES.length),
  agents: z.array(z.object({ tool, name, role: name })).max(MAX_AGENTS),
  estimated_steps: z.number().int().min(1).max(64),
  domain_areas: z.array(name).max(10),
});

/** Who plans: the model, and its name for the manifest. */
export interface ModelPlanner {
  readonly model: Pick<BenchModel, "answer">;
  readonly name: string;
  readonly signal: AbortSignal;
}

/** Teams by a model. Throws PlanError for a question whose team cannot be executed after some tries: no other planner steps in. */
export async function planByModel(
  questions: readonly Question[],
  seed: number,
  planner: ModelPlanner,
): Promise<readonly PlannedQuestion[]> {
  const planned: PlannedQuestion[] = [];
  for (const question of questions) planned.push({ ...question, team: await planOne(question, seed, planner) });
  return planned;
}

async function planOne(question: Question, seed: number, { model, name: planner, signal }: ModelPlanner): Promise<Team> {
  let problems: readonly string[] = [];
  for (let left = TRIES; left > 0; left--) {
    const reply = await model.answer(plannerPrompt(question, problems), signal);
    const read = readJsonReply(reply, ANALYSIS);
    if (isProblem(read)) problems = [read.problem];
    else
      try {
        return compileTeam(question, read, { planner, seed });
      } catch (thrown) {
        if (!(thrown instanceof PlanError)) throw thrown;
        problems = thrown.problems;
      }
  }
  throw new PlanError([`${planner} planned no team for ${question.id} that can be executed: ${problems.join("; ")}`]);
}

function plannerPrompt({ text, level }: Question, problems: readonly string[]): string {
  const asked = fillPrompt(PLANNER_PROMPT, {
    question: text,
    tools: Object.values(INTERFACES)
      .map((each) => `- ${each.name}: ${each.description}`)
      .join("\n"),
    max_agents: String(MAX_AGENTS),
    recommended_agents: String(RECOMMENDED_AGENTS[level]),
    task_types: TASK_TYPES.join(", "),
  });
  return problems.length === 0 ? asked : `${asked}\n\nYour last reply could not be used: ${problems.join("; ")}. Correct it.`;
}
