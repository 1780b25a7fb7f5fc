/** Questions about documents: what a benchmark of them is made from. */
export { LEVELS, type Level, MAX_PER_LEVEL } from "./data/questions.js";
export { readMemories } from "./memory/read-memories.js";
export { planByRule, questionsOf } from "./plan/plan-teams.js";
export type { PlannedQuestion } from "./plan/planned-question.js";
export { TEAM_PROMPTS } from "./prompts.js";
export { DISTURBANCES, type Disturbance } from "./team/disturbances.js";
export { questionEntries, teamData } from "./team/team-data.js";
export { confineProblem } from "./tools/confine.js";
