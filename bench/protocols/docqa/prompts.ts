import { readPrompt } from "../prompts/prompts.js";
import type { Team, TeamAgent } from "./plan/manifest.js";

/** The prompts of this scenario, by what they are for. */
export const TEAM_PROMPTS = {
  base: "docqa-base.v1",
  role: "docqa-role.v1",
} as const;
type TeamPrompt = keyof typeof TEAM_PROMPTS;

/** Fills a prompt. A value is data: its own braces are left as they are. Throws Error for a place that has no value. */
export function fillPrompt(name: TeamPrompt, values: Readonly<Record<string, string>>): string {
  return readPrompt(TEAM_PROMPTS[name]).replace(/\{\{([a-z_]+)\}\}/g, (_, key: string) => {
    const value = values[key];
    if (value === undefined) throw new Error(`the prompt ${TEAM_PROMPTS[name]} has a place ${key} that is not filled`);
    return value;
  });
}

/** What the model that answers is asked. */
export function finalPrompt({ question, agents }: Team, { name, role }: TeamAgent, found: string): string {
  return [
    fillPrompt("base", { team: agents.map((agent) => `${agent.name} (${agent.role})`).join(", ") }),
    fillPrompt("role", { name, role }),
    `Question: ${question}`,
    `What the team has found: ${found}`,
  ].join("\n\n");
}
