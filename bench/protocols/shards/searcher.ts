import type { BehaviourContext } from "../behaviours/behaviour.js";
import { numbered } from "../payload.js";
import { type Lookup, lookupFragment } from "./matcher.js";
import { ANSWER_FOUND, NOT_FOUND } from "./messages.js";
import { readLookup, readSending, SHARD_PROMPTS, writePrompt } from "./prompts.js";

export interface LookupRequest {
  readonly question: string;
  readonly fragment: string;
  readonly seq: number | undefined;
}

/** How an agent looks into its own fragment, and what it says to the coordinator. */
export interface Searcher {
  lookup(request: LookupRequest, signal: AbortSignal): Promise<Lookup>;
  /** `ANSWER_FOUND: …` or `NOT_FOUND`. */
  report(question: string, found: Lookup, signal: AbortSignal): Promise<string>;
}

const NOTHING: Lookup = { found: false, answer: "", confidence: 0 };

type SearcherContext = Pick<BehaviourContext, "model" | "name" | "agents" | "note"> & {
  readonly settings: Pick<BehaviourContext["settings"], "model">;
};

/** By words, or by the model and its prompts where answers are live or recorded. */
export function openSearcher({ model, settings, name, agents, note }: SearcherContext): Searcher {
  if (settings.model === "null" || settings.model === "scripted") {
    return {
      async lookup({ question, fragment, seq }, signal) {
        // Takes the time of the script; the answer is that of the matcher.
        if (settings.model === "scripted") await model.answer(numbered(seq ?? 0, ""), signal);
        return lookupFragment(question, fragment);
      },
      report: async (_question, found) => reportOf(found),
    };
  }
  const at = agents.indexOf(name);
  const ring = {
    agent: name,
    previous: agents[(at + agents.length - 1) % agents.length] ?? name,
    next: agents[(at + 1) % agents.length] ?? name,
  };
  return {
    async lookup({ question, fragment, seq }, signal) {
      const said = await model.answer(writePrompt(SHARD_PROMPTS.search, { ...ring, question, fragment }), signal);
      const read = readLookup(said);
      if (read === undefined) note("unreadable", { seq, values: { prompt: SHARD_PROMPTS.search } });
      return read ?? NOTHING;
    },
    async report(question, found, signal) {
      const { answer, confidence } = found;
      const facts = { ...ring, question, found: String(found.found), answer, confidence: String(confidence) };
      const said = await model.answer(writePrompt(SHARD_PROMPTS.worker, facts), signal);
      const content = readSending(said);
      if (content === undefined) note("unreadable", { values: { prompt: SHARD_PROMPTS.worker } });
      return content ?? reportOf(found);
    },
  };
}

function reportOf({ found, answer }: Lookup): string {
  return found ? `${ANSWER_FOUND}${answer}` : NOT_FOUND;
}
