import { z } from "zod";
import { parseDid } from "../../src/internal.js";
import { interfaceNameProblem } from "./interface-names.js";

/** Value types of the configuration with their error messages. */

export const TEXT = z.string().min(1, "must not be empty");
export const FILE = TEXT.describe("A file; relative to the directory of the configuration.");
export const NAME = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "must be at most 64 letters, digits, dots, dashes and underscores");
const VARIABLE = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable");

/** `protocol`, `protocol@version` or `protocol@version/binding`. */
export const INTERFACE_NAME = z.string().superRefine((text, context) => {
  const message = interfaceNameProblem(text);
  if (message !== undefined) context.addIssue({ code: "custom", message });
});

export const DID = z.string().superRefine((text, context) => {
  if (parseDid(text) === undefined)
    context.addIssue({
      code: "custom",
      message: "must be a DID such as did:web:agents.example.com; `koine identity show` prints it",
    });
});

/** An http(s) URL. Error messages do not quote it: it may hold a secret. */
export const URL_TEXT = z.string().superRefine((text, context) => {
  const report = (message: string): void => context.addIssue({ code: "custom", message });
  if (!URL.canParse(text) || !/^https?:\/\//i.test(text)) return report("must be an http or https URL");
  const { username, password } = new URL(text);
  if (username !== "" || password !== "") report("must not contain a user or password: use credentials");
});

/** Where an agent is: an http(s) URL, or a DID whose document names its address. */
export const ADDRESS = z.string().superRefine((text, context) => {
  const { error } = isDid(text) ? DID.safeParse(text) : URL_TEXT.safeParse(text);
  for (const { message } of error?.issues ?? [])
    context.addIssue({ code: "custom", message: message.replace("http or https URL", "http or https URL, or a DID") });
});

export function isDid(address: string): boolean {
  return /^did:/i.test(address);
}

/** A reference to a secret. The configuration never holds the secret itself. */
export const SECRET = z
  .union([z.strictObject({ env: VARIABLE }), z.strictObject({ file: FILE })], {
    error: "must be { env: NAME } or { file: PATH }: a configuration references secrets and does not contain them",
  })
  .describe("Reference to a secret: { env: NAME } or { file: PATH }.");
export type SecretReference = z.infer<typeof SECRET>;

const DAY_MS = 86_400_000;
export const MS = z
  .number("must be a number of milliseconds")
  .positive()
  .max(7 * DAY_MS);
export const COUNT = z.int().positive();
export const SHARE = z.number("must be a number from 0 to 1").min(0).max(1);

/** `true` (defaults), `false` (off), or an object that overrides some defaults. */
export function switched<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.union([z.boolean(), z.strictObject(shape)]);
}
