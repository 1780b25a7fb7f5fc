/** Questions about documents: what a benchmark of them is made from. */
export { LEVELS, type Level, MAX_PER_LEVEL } from "./data/questions.js";
export { judgeByModel } from "./judge/judge-by-model.js";
export { agreementTable, judgementTables } from "./judge/judgement-tables.js";
export { readMemories } from "./memory/read-memories.js";
export { summariseByModel } from "./memory/summary.js";
export { PlanError } from "./plan/compile-team.js";
export { PLANNER_PROMPT, planByModel } from "./plan/plan-by-model.js";
export { planByRule, questionsOf } from "./plan/plan-teams.js";
export type { PlannedQuestion } from "./plan/planned-question.js";
export { TEAM_PROMPTS } from "./prompts.js";
export { DISTURBANCES, type Disturbance } from "./team/disturbances.js";
export { questionEntries, teamData } from "./team/team-data.js";
export { confineProblem } from "./tools/confine.js";
