import { z } from "zod";
import { isProblem, readJsonReply } from "./json-reply.js";
import type { BenchModel } from "./settings.js";

const name = z.string().max(200);
const count = z.number().int().nonnegative();

/** What every file of judgements says about the model and how it was asked. */
export const JUDGED_BY = {
  /** Of the file. */
  version: z.literal(1),
  model: name,
  prompt: z.strictObject({ name, sha256: name }),
  decoding: z.strictObject({ temperature: z.number(), topP: z.number(), maxTokens: count }),
  times: count,
  /** False: interrupted, and some judgements are missing. */
  complete: z.boolean(),
} as const;

/** A model that judges: how often it is asked about each thing. */
export interface Voter {
  readonly model: Pick<BenchModel, "answer">;
  readonly times: number;
  readonly signal: AbortSignal;
}

/** Asks the same so many times. Null: a reply that is none of this shape. Undefined: interrupted. Throws AgentError of the model. */
export async function askVotes<T extends object>(
  prompt: string,
  shape: z.ZodType<T>,
  { model, times, signal }: Voter,
): Promise<(T | null)[] | undefined> {
  const votes: (T | null)[] = [];
  while (votes.length < times) {
    if (signal.aborted) return undefined;
    try {
      // A signal of its own for each call: what listens to it ends with it.
      const read = readJsonReply(await model.answer(prompt, AbortSignal.any([signal])), shape);
      votes.push(isProblem(read) ? null : read);
    } catch (thrown) {
      if (!signal.aborted) throw thrown;
    }
  }
  return votes;
}
