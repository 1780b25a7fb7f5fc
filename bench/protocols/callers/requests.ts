import type { Questions } from "../behaviours/behaviour.js";
import { readEntries } from "../entries/read-entries.js";
import { numbered, payloadOf } from "../payload.js";
import type { CallerTask } from "../processes/tasks.js";
import { askWith, readPrompt } from "../prompts/prompts.js";
import { WARM_UP_FROM } from "./load.js";

/** What each request says, and to whom if it names somebody. */
export interface Requests {
  payloadOf(seq: number): string;
  agentOf(seq: number): string;
  moduleOf(seq: number): string | undefined;
}

const OF_NOBODY = { agentOf: () => "", moduleOf: () => undefined };

/** Requests carry a question of the scenario, an entry of the queue, or text of a given length. */
export function requestsOf(
  { entries: source, seed, settings }: CallerTask,
  questions: ReturnType<Questions> | undefined,
): Requests {
  if (questions !== undefined) return { ...OF_NOBODY, payloadOf: (seq) => numbered(seq, questions.textOf(seq)) };
  if (source === undefined) return { ...OF_NOBODY, payloadOf: (seq) => payloadOf(seed, seq, settings.payloadBytes) };
  const entries = readEntries(source);
  const prompt = source.prompt === undefined ? undefined : readPrompt(source.prompt);
  const entryOf = (seq: number) => entries[(seq % WARM_UP_FROM) % entries.length];
  return {
    payloadOf(seq) {
      const question = entryOf(seq)?.text ?? "";
      return numbered(seq, prompt === undefined ? question : askWith(prompt, question));
    },
    agentOf: (seq) => entryOf(seq)?.to ?? "",
    moduleOf: (seq) => entryOf(seq)?.module,
  };
}
