import { z } from "zod";

/** The longest message between agents. */
const MAX_CHARS = 64 * 1024;

export const FACT_VALUE = z.union([z.string().max(4_000), z.array(z.string().max(4_000)).max(100)]);
export type FactValue = z.infer<typeof FACT_VALUE>;

/** What agents say to each other. */
const MESSAGE = z.discriminatedUnion("kind", [
  /** To the agent that answers. */
  z.strictObject({ kind: z.literal("question"), task: z.string().max(60) }),
  /** From it to those that can begin. */
  z.strictObject({ kind: z.literal("start"), task: z.string().max(60), asked: z.number().int(), from: z.string().max(20) }),
  z.strictObject({
    kind: z.literal("fact"),
    task: z.string().max(60),
    /** The number of the request that carried the question. */
    asked: z.number().int(),
    from: z.string().max(20),
    fact: z.string().max(20),
    value: FACT_VALUE,
    /** Which of several messages about this fact, from 0. */
    n: z.number().int().min(0),
    /** No more of this fact will come. */
    last: z.boolean(),
  }),
]);
export type TeamMessage = z.infer<typeof MESSAGE>;

/** Undefined for text that is no message of a team. */
export function readMessage(text: string): TeamMessage | undefined {
  if (text.length > MAX_CHARS) return undefined;
  try {
    return MESSAGE.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
