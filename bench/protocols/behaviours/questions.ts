import type { Questions } from "./behaviour.js";
import { shardQuestions } from "./shard-questions.js";

/** By the name of the behaviour. One line each. */
export const QUESTIONS: Readonly<Record<string, Questions>> = {
  "shard-ring": shardQuestions,
};
