import { fillPrompt } from "../prompts/prompts.js";
import type { Team, TeamAgent } from "./plan/manifest.js";

/** The prompts of this scenario, by what they are for. */
export const TEAM_PROMPTS = {
  base: "docqa-base.v1",
  role: "docqa-role.v1",
} as const;

/** What the model that answers is asked. */
export function finalPrompt({ question, agents }: Team, { name, role }: TeamAgent, found: string): string {
  return [
    fillPrompt(TEAM_PROMPTS.base, { team: agents.map((agent) => `${agent.name} (${agent.role})`).join(", ") }),
    fillPrompt(TEAM_PROMPTS.role, { name, role }),
    `Question: ${question}`,
    `What the team has found: ${found}`,
  ].join("\n\n");
}
