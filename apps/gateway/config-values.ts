import { z } from "zod";
import { interfaceNameProblem } from "./interface-names.js";

/** What values of a configuration look like, each with the sentence that is said when one does not. */

export const TEXT = z.string().min(1, "must not be empty");
export const FILE = TEXT.describe("A file; relative names begin at the folder of the configuration.");
export const NAME = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "must have letters, digits, dots, dashes and underscores, at most 64");
const VARIABLE = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable");

/** `protocol`, `protocol@version`, `protocol@version/binding`; an unknown one is told with those that there are. */
export const INTERFACE_NAME = z.string().superRefine((text, context) => {
  const message = interfaceNameProblem(text);
  if (message !== undefined) context.addIssue({ code: "custom", message });
});

/** An address that is called. What is wrong with it is said without repeating it: it may hold a secret. */
export const URL_TEXT = z.string().superRefine((text, context) => {
  const complain = (message: string): void => context.addIssue({ code: "custom", message });
  if (!URL.canParse(text) || !/^https?:\/\//i.test(text)) return complain("must be an http or https address");
  const { username, password } = new URL(text);
  if (username !== "" || password !== "") complain("must hold no user and no password: they belong into credentials");
});

/** Where a secret is. The secret itself has no place in a configuration. */
export const SECRET = z
  .union([z.strictObject({ env: VARIABLE }), z.strictObject({ file: FILE })], {
    error: "must be { env: NAME } or { file: PATH }: a configuration names secrets, it does not hold them",
  })
  .describe("Where a secret is: { env: NAME } or { file: PATH }.");
export type SecretPlace = z.infer<typeof SECRET>;

const DAY_MS = 86_400_000;
export const MS = z
  .number("must be a number of milliseconds")
  .positive()
  .max(7 * DAY_MS);
export const COUNT = z.int().positive();
export const SHARE = z.number("must be a number from 0 to 1").min(0).max(1);

/** A policy that is on with its own defaults, off, or on with some of them changed. */
export function switched<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.union([z.boolean(), z.strictObject(shape)]);
}
