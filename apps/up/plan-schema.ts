import { z } from "zod";
import { CAPABILITIES, type CapabilityId } from "../../src/router/index.js";

/** Part of addresses, of prefixes of lines and of names of variables. */
const ID = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "must be letters, digits, dots, dashes and underscores, at most 64");
const IDS = z.array(ID);
const TEXT = z.string().min(1, "must not be empty");
const VARIABLE = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "must be the name of an environment variable");
const MAX_READY_SECONDS = 3_600;

/** Where a secret is. The secret itself has no place in a plan. */
const SECRET = z.union([z.strictObject({ env: VARIABLE }), z.strictObject({ file: TEXT })], {
  error: "must be { env: NAME } or { file: PATH }: a plan names secrets, it does not hold them",
});

// The list is not empty, which its type does not say.
const CAPABILITY = z.enum(CAPABILITIES.map(({ id }) => id) as [CapabilityId, ...CapabilityId[]]);

const MODULE = z
  .strictObject({
    id: ID,
    neighbours: IDS.optional(),
    neighbors: IDS.optional(),
    requires: z.array(CAPABILITY).optional(),
    avoids: z.array(CAPABILITY).optional(),
    command: z.array(TEXT).min(1, "needs a program").optional(),
    agent: TEXT.optional(),
    url: z.url({ protocol: /^https?$/, error: "must be an http or https address" }).optional(),
    demo: z.literal(true, { error: "must be true, or not be there" }).optional(),
    pin: z
      .string()
      .regex(/^[a-z0-9-]+(@[^/@]+(\/[^/]+)?)?$/, "must look like protocol@version/binding")
      .optional(),
    port: z.int().min(1).max(65_535).optional(),
    env: z.record(VARIABLE, z.string("must be text: put it in quotes")).optional(),
    credentials: z.strictObject({ bearer: SECRET.optional(), apiKey: SECRET.optional() }).optional(),
    cwd: TEXT.optional(),
    ready: z
      .strictObject({
        path: z.string().startsWith("/").optional(),
        timeout: z.number().positive().max(MAX_READY_SECONDS).optional(),
      })
      .optional(),
  })
  .superRefine((module, context) => {
    const ways = (["command", "agent", "url", "demo"] as const).filter((way) => module[way] !== undefined);
    if (ways.length !== 1)
      context.addIssue({
        code: "custom",
        message: `must have one of command, agent, url and demo, and has ${ways.length === 0 ? "none" : ways.join(" and ")}`,
      });
    if (module.credentials?.apiKey !== undefined && (module.agent ?? module.demo) !== undefined)
      context.addIssue({
        code: "custom",
        path: ["credentials", "apiKey"],
        message: "has no place here: an agent of ours knows its callers by a bearer token",
      });
    if (module.url === undefined) return;
    for (const member of ["port", "env", "cwd"] as const)
      if (module[member] !== undefined)
        context.addIssue({ code: "custom", path: [member], message: "has no place beside url: it already runs" });
  });

const DECISION = z.looseObject({
  module_id: ID.optional(),
  selected_protocol: TEXT.nullable(),
  evidence_spans: z.array(z.string()).optional(),
});

/** What a plan file holds. */
export const PLAN_SCHEMA = z
  .strictObject({
    decisions: z
      .union([TEXT, z.array(DECISION), z.record(ID, DECISION)], { error: "must be decisions, or the name of a file with them" })
      .optional(),
    scenario: z.union([TEXT, z.looseObject({})], { error: "must be a scenario, or the name of a file with one" }).optional(),
    abstain: TEXT.optional(),
    modules: z.array(MODULE).min(1, "has no module"),
    allowDowngrade: z.array(z.strictObject({ src: ID, dst: ID, because: TEXT.optional() })).optional(),
  })
  .superRefine(({ decisions, scenario }, context) => {
    if ((decisions === undefined) === (scenario === undefined))
      context.addIssue({ code: "custom", message: "must have either decisions or a scenario to be routed" });
  });

export type PlanDocument = z.infer<typeof PLAN_SCHEMA>;
/** How one module is started, and how it is reached. */
export type PlanModule = PlanDocument["modules"][number];
export type SecretPlace = z.infer<typeof SECRET>;
export type CredentialPlaces = NonNullable<PlanModule["credentials"]>;
