import { z } from "zod";
import { REQUIREMENTS } from "../../src/internal.js";
import { CAPABILITIES, type CapabilityId } from "../../src/router/index.js";

/** Used in URLs, output prefixes and variable names. */
const ID = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "must be at most 64 letters, digits, dots, dashes and underscores");
const IDS = z.array(ID);
const TEXT = z.string().min(1, "must not be empty");
const VARIABLE = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable");
const MAX_READY_SECONDS = 3_600;

/** A reference to a secret. A plan never holds the secret itself. */
const SECRET = z.union([z.strictObject({ env: VARIABLE }), z.strictObject({ file: TEXT })], {
  error: "must be { env: NAME } or { file: PATH }: a plan references secrets and does not contain them",
});

// The list is not empty.
const CAPABILITY = z.enum(CAPABILITIES.map(({ id }) => id) as [CapabilityId, ...CapabilityId[]]);

const MODULE = z
  .strictObject({
    id: ID,
    neighbours: IDS.optional(),
    neighbors: IDS.optional(),
    requires: z.array(CAPABILITY).optional(),
    avoids: z.array(CAPABILITY).optional(),
    require: z.array(z.enum(REQUIREMENTS)).min(1, "is empty").optional(),
    command: z.array(TEXT).min(1, "needs a program").optional(),
    agent: TEXT.optional(),
    url: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).optional(),
    demo: z.literal(true, { error: "must be true or absent" }).optional(),
    pin: z
      .string()
      .regex(/^[a-z0-9-]+(@[^/@]+(\/[^/]+)?)?$/, "must look like protocol@version/binding")
      .optional(),
    port: z.int().min(1).max(65_535).optional(),
    env: z.record(VARIABLE, z.string("must be text: put it in quotes")).optional(),
    credentials: z.strictObject({ bearer: SECRET.optional(), apiKey: SECRET.optional() }).optional(),
    identity: TEXT.optional(),
    cwd: TEXT.optional(),
    ready: z
      .strictObject({
        path: z.string().startsWith("/").optional(),
        timeout: z.number().positive().max(MAX_READY_SECONDS).optional(),
      })
      .optional(),
  })
  .superRefine((module, context) => {
    const kinds = (["command", "agent", "url", "demo"] as const).filter((kind) => module[kind] !== undefined);
    if (kinds.length !== 1)
      context.addIssue({
        code: "custom",
        message: `must have exactly one of command, agent, url and demo, not ${kinds.length === 0 ? "none" : kinds.join(" and ")}`,
      });
    if (module.credentials?.apiKey !== undefined && (module.agent ?? module.demo) !== undefined)
      context.addIssue({
        code: "custom",
        path: ["credentials", "apiKey"],
        message: "is not supported here: agents served by koine up accept bearer tokens only",
      });
    if (module.identity !== undefined && (module.agent ?? module.demo) === undefined)
      context.addIssue({
        code: "custom",
        path: ["identity"],
        message: "is only for agents served by koine up: a command or a running agent has an identity of its own",
      });
    if (module.url === undefined) return;
    for (const member of ["port", "env", "cwd"] as const)
      if (module[member] !== undefined)
        context.addIssue({ code: "custom", path: [member], message: "is not allowed with url: the agent is already running" });
  });

const DECISION = z.looseObject({
  module_id: ID.optional(),
  selected_protocol: TEXT.nullable(),
  evidence_spans: z.array(z.string()).optional(),
});

/** Schema of a plan file. */
export const PLAN_SCHEMA = z
  .strictObject({
    decisions: z
      .union([TEXT, z.array(DECISION), z.record(ID, DECISION)], { error: "must be decisions or a file name" })
      .optional(),
    scenario: z.union([TEXT, z.looseObject({})], { error: "must be a scenario or a file name" }).optional(),
    abstain: TEXT.optional(),
    modules: z.array(MODULE).min(1, "has no module"),
    settings: z.record(TEXT, z.record(TEXT, z.union([z.string(), z.number(), z.boolean()]))).optional(),
    allowDowngrade: z.array(z.strictObject({ src: ID, dst: ID, because: TEXT.optional() })).optional(),
  })
  .superRefine(({ decisions, scenario }, context) => {
    if ((decisions === undefined) === (scenario === undefined))
      context.addIssue({ code: "custom", message: "must have either decisions or scenario" });
  });

export type PlanDocument = z.infer<typeof PLAN_SCHEMA>;
/** How one module is started and called. */
export type PlanModule = PlanDocument["modules"][number];
/** Protocol settings, by protocol id. */
export type PlanSettings = NonNullable<PlanDocument["settings"]>;
export type SecretReference = z.infer<typeof SECRET>;
export type CredentialReferences = NonNullable<PlanModule["credentials"]>;
