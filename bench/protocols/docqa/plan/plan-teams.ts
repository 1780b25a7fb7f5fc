import { askQuestions, type Question, type QuestionChoice } from "../data/questions.js";
import { makeWorld } from "../data/world.js";
import { analyseByRule, compileTeam } from "./compile-team.js";
import type { PlannedQuestion } from "./planned-question.js";

export const RULE_PLANNER = "rule";

/** The questions of a seed. */
export function questionsOf(choice: QuestionChoice): readonly Question[] {
  return askQuestions(makeWorld(choice.seed), choice);
}

/** Teams by rule: the same for the same questions, on any machine. */
export function planByRule(questions: readonly Question[], seed: number): readonly PlannedQuestion[] {
  return questions.map((question) => ({
    ...question,
    team: compileTeam(question, analyseByRule(question), { planner: RULE_PLANNER, seed }),
  }));
}
