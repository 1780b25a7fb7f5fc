import type { BenchEvent } from "../../result/event.js";
import { measuredIn } from "../../result/run-events.js";
import { replay } from "./replay.js";
import { memoriesOf } from "./step-memory.js";
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
export async function readMemories(events: readonly BenchEvent[], task?: string): Promise<readonly Remembered[]> {
  const { plan, runs } = measuredIn(events);
  const { questions } = plan;
  if (questions === undefined) throw new Error(`the scenario ${plan.scenario} has no teams whose work could be remembered`);
  const found: Remembered[] = [];
  for (const { planned, requests, notes } of runs) {
    const memories = memoriesOf(notes);
    for (const { seq } of requests.filter(({ phase }) => phase === "measure")) {
      const [question, memory] = [questions[seq % questions.length], memories.get(seq)];
      if (question === undefined || memory === undefined || (task !== undefined && question.id !== task)) continue;
      const { answer: replayed = null, differences } = await replay(question, memory);
      const summary = summariseByRule(question, memory);
      found.push({
        run: planned.run,
        arm: planned.arm,
        task_id: question.id,
        summary,
        answer: memory.answer ?? null,
        replayed,
        differences,
      });
    }
  }
  return found;
}
