import { z } from "zod";
import { REQUIREMENTS } from "../../src/internal.js";
import { TEXT } from "./config-values.js";

/** Security that calls must have. */
export const REQUIRE = z.array(z.enum(REQUIREMENTS)).min(1, "is empty");

/** An exception from it. */
export const OPENING = z.strictObject({
  upstream: TEXT.describe("The name of an agent, or agent/upstream where it has several."),
  lowers: REQUIRE.describe("The requirements that do not hold there."),
  reason: TEXT.describe("Why, for whoever reads it later."),
  until: z
    .string()
    .regex(
      /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2})?Z)?$/,
      "must be a day such as 2026-12-31, or a time such as 2026-12-31T12:00Z",
    )
    .refine((text) => !Number.isNaN(Date.parse(text)), "is no date")
    .describe("The last day it holds, or the time at which it ends, in UTC."),
});

export const CLEAR_TEXT = z.enum(["private", "loopback"]);
