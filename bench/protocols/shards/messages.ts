import { z } from "zod";
import { SHARD_LIMITS } from "./jsonl.js";

/** What travels in a ring, as JSON in the text of messages. */

const text = z.string().max(SHARD_LIMITS.textChars);
const name = z.string().min(1).max(200);
const count = z.number().int().nonnegative();
/** A message is at most one fragment of each group. */
const FRAGMENTS = z.array(z.strictObject({ group: count, text })).max(SHARD_LIMITS.items);

/** From the coordinator to the agent that is asked first. */
const ASK = z.strictObject({ kind: z.literal("ask"), key: name, group: count, question: text });
/** From agent to agent. `path`: who has looked already. */
const SEARCH = z.strictObject({
  kind: z.literal("search"),
  key: name,
  seq: count.optional(),
  group: count,
  question: text,
  path: z.array(name).max(64),
});
export const MESSAGE = z.discriminatedUnion("kind", [
  ASK,
  SEARCH,
  z.strictObject({ kind: z.literal("heartbeat") }),
  /** An agent is back. */
  z.strictObject({ kind: z.literal("join"), restart: count }),
  /** A copy of the sender's fragments, for the time after its death. */
  z.strictObject({ kind: z.literal("keep"), fragments: FRAGMENTS }),
  /** Asks for the copy. */
  z.strictObject({ kind: z.literal("give") }),
]);
export type RingMessage = z.infer<typeof MESSAGE>;
export type Ask = z.infer<typeof ASK>;
export type Search = z.infer<typeof SEARCH>;

/** What a search comes back with. */
export const SEARCHED = z.strictObject({
  found: z.boolean(),
  answer: text,
  confidence: z.number().min(0).max(1),
  by: name.optional(),
  /** Agents that have looked. */
  hops: count,
});
export type Searched = z.infer<typeof SEARCHED>;

export const KEPT = z.strictObject({ fragments: FRAGMENTS });

/** How the coordinator is told. */
export const ANSWER_FOUND = "ANSWER_FOUND: ";
export const NOT_FOUND = "NOT_FOUND";

/** Undefined for text that is none of the ring's messages. */
export function parsed<T>(schema: z.ZodType<T>, written: string): T | undefined {
  try {
    return schema.safeParse(JSON.parse(written)).data;
  } catch {
    return undefined;
  }
}
