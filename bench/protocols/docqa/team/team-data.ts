import { z } from "zod";
import type { EntrySource } from "../../entries/entry.js";
import type { Condition, Plan } from "../../result/plan.js";
import { TEAM } from "../plan/manifest.js";
import { PLANNED_QUESTION, type PlannedQuestion } from "../plan/planned-question.js";
import { DISTURBANCES } from "./disturbances.js";

/** What the agents of this scenario are given: the same in all arms. Answers are not in it. */
export const TEAM_DATA = z.strictObject({
  worldSeed: z.number().int().nonnegative(),
  teams: z.array(z.strictObject({ team: TEAM, given: PLANNED_QUESTION.shape.given })),
  /** How long a team may take for a question. */
  budgetMs: z.number().positive(),
  disturb: z
    .strictObject({ kind: z.enum(DISTURBANCES), count: z.number().int().min(1), seed: z.number().int().nonnegative() })
    .optional(),
});
export type TeamData = z.infer<typeof TEAM_DATA>;

/** For the agents of a run under this condition. */
export function teamData({ settings, questions = [] }: Plan, { disturb }: Condition): TeamData {
  return {
    worldSeed: settings.seed,
    teams: questions.map(({ team, given }) => ({ team, given })),
    budgetMs: settings.budgetMs ?? settings.messageTimeoutMs,
    ...(disturb === undefined ? {} : { disturb: { ...disturb, seed: settings.seed } }),
  };
}

/** The questions as requests, each for the agent that answers it. */
export function questionEntries(questions: readonly PlannedQuestion[], seed: number): EntrySource {
  return {
    kind: "given",
    name: `questions, seed ${seed}`,
    entries: questions.map(({ id, team }) => ({
      id,
      text: JSON.stringify({ kind: "question", task: id }),
      to: team.workflow.final,
      module: team.agents.at(-1)?.role,
    })),
  };
}
