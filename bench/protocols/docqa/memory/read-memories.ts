import type { BenchEvent } from "../../result/event.js";
import type { PlannedQuestion } from "../plan/planned-question.js";
import { judgedIn } from "../result/judge-run.js";
import { replay } from "./replay.js";
import type { Memory } from "./step-memory.js";
import { summariseByRule } from "./summary.js";

/** One question of one run: what its team did, and whether its memory gives the same answer again. */
export interface Remembered {
  readonly run: string;
  readonly arm: string;
  readonly task_id: string;
  readonly summary: string;
  readonly answer: string | null;
  /** From its memory alone, without network, tools and models. */
  readonly replayed: string | null;
  readonly differences: readonly string[];
}

/** The memories of all measured questions, replayed. Throws Error for events without questions. */
export async function readMemories(
  events: readonly BenchEvent[],
  { task, summarise = async (question, memory) => summariseByRule(question, memory) }: ReadMemories = {},
): Promise<readonly Remembered[]> {
  const found: Remembered[] = [];
  for (const { planned, question, memory } of judgedIn(events)) {
    if (memory === undefined || (task !== undefined && question.id !== task)) continue;
    const { answer: replayed = null, differences } = await replay(question, memory);
    found.push({
      run: planned.run,
      arm: planned.arm,
      task_id: question.id,
      summary: await summarise(question, memory),
      answer: memory.answer ?? null,
      replayed,
      differences,
    });
  }
  return found;
}

export interface ReadMemories {
  /** Only this question. */
  readonly task?: string | undefined;
  /** Default: by rule. */
  summarise?(question: PlannedQuestion, memory: Memory): Promise<string>;
}
