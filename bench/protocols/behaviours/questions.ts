import type { NoteEvent, Settings } from "../result/index.js";
import { shardQuestions } from "./shard-questions.js";

/** What a caller asks in a scenario, and how it judges an answer. */
export type Questions = (parts: { readonly data?: unknown; readonly settings: Settings }) => {
  /** The same for the same number in every arm. */
  textOf(seq: number): string;
  /** Recorded as a note `judged` of the caller. */
  judge(seq: number, answer: string): NoteEvent["values"];
};

/** By the name of the behaviour. One line each. */
export const QUESTIONS: Readonly<Record<string, Questions>> = {
  "shard-ring": shardQuestions,
};
