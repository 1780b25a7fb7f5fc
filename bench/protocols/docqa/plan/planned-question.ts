import { z } from "zod";
import { LEVELS, QUESTION_KINDS } from "../data/questions.js";
import { TEAM } from "./manifest.js";

/** A question, its exact answer, and the team that is to find it. Agents get the team and what the question names. */
export const PLANNED_QUESTION = z.strictObject({
  id: z.string().min(1).max(60),
  kind: z.enum(QUESTION_KINDS),
  level: z.literal([...LEVELS]),
  text: z.string().max(2_000),
  given: z.record(z.string().max(20), z.string().max(200)),
  answer: z.string().max(200),
  team: TEAM,
});
export type PlannedQuestion = z.infer<typeof PLANNED_QUESTION>;
