import { z } from "zod";
import { readPrompt } from "../prompts/prompts.js";
import type { Lookup } from "./matcher.js";

/** The prompts of a ring, by what they are for. */
export const SHARD_PROMPTS = { worker: "shard-worker.v1", search: "local-search.v1" } as const;
type ShardPrompt = (typeof SHARD_PROMPTS)[keyof typeof SHARD_PROMPTS];

/** The text of a prompt with its places filled. */
export function writePrompt(name: ShardPrompt, values: Readonly<Record<string, string>>): string {
  return readPrompt(name).replace(/\{(\w+)\}/g, (place, name: string) => values[name] ?? place);
}

/** A tool call is one JSON object somewhere in what a model says. */
const LOOKUP = z.object({
  tool: z.literal("lookup_fragment"),
  found: z.boolean(),
  answer: z.string().max(16_384),
  confidence: z.number().min(0).max(1),
});
const SENDING = z.object({
  tool: z.literal("send_message"),
  destination: z.literal("coordinator"),
  content: z.string().max(16_384),
});

/** The arguments of `lookup_fragment`, or undefined if the model did not call it as the prompt says. */
export function readLookup(said: string): Lookup | undefined {
  const call = toolCall(LOOKUP, said);
  return call && { found: call.found && call.answer !== "", answer: call.answer, confidence: call.confidence };
}

/** What the model wants sent to the coordinator. */
export function readSending(said: string): string | undefined {
  return toolCall(SENDING, said)?.content;
}

function toolCall<T>(schema: z.ZodType<T>, said: string): T | undefined {
  const [from, to] = [said.indexOf("{"), said.lastIndexOf("}")];
  if (from < 0 || to < from) return undefined;
  try {
    return schema.safeParse(JSON.parse(said.slice(from, to + 1))).data;
  } catch {
    return undefined;
  }
}
