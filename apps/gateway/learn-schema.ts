import { z } from "zod";
import { INTERFACE_NAME, switched, TEXT } from "./config-values.js";

/** `learn` of an agent. */
export const LEARN = switched({
  feasible: z
    .array(INTERFACE_NAME.regex(/^[^@]*$/, "must be a protocol, without a version"))
    .min(1, "is empty")
    .optional()
    .describe("Protocols that may be chosen. Default: all that the agent speaks."),
  context: TEXT.optional().describe("Agents with the same context share what was learned. Default: the name of the upstream."),
  seed: z.int().optional().describe("The same seed, outcomes and number of choices give the same choice. Default: 0."),
});
export type LearnDocument = Exclude<z.infer<typeof LEARN>, boolean>;
