import { z } from "zod";
import { FILE } from "./config-values.js";

const REDIS = z.string().superRefine((text, context) => {
  if (!/^rediss?:\/\//.test(text) || !URL.canParse(text))
    context.addIssue({ code: "custom", message: "must be a Redis URL such as redis://127.0.0.1:6379" });
});

const SEAL = {
  seal: z
    .union([FILE, z.literal(false)])
    .optional()
    .describe(
      "The file of keys that tasks are sealed with, made at first use; false stores them in clear. Default: beside the identity if a protocol of it asks for it, else in clear.",
    ),
  acceptUnsealed: z
    .boolean()
    .optional()
    .describe("Read tasks from before they were sealed. Whoever can write the store can then add such tasks. Default: false."),
};

/** Where tasks are kept. */
export const STORE = z.union(
  [
    z.literal("memory"),
    z.strictObject({ sqlite: FILE.describe("A directory."), durable: z.enum(["process", "power"]).optional(), ...SEAL }),
    z.strictObject({
      redis: REDIS.describe("Shared by several gateways. A URL with a password must come from an environment variable."),
      ...SEAL,
    }),
  ],
  { error: "must be memory, { sqlite: DIRECTORY } or { redis: URL }" },
);
