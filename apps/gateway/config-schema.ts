import { z } from "zod";
import { CARD_POLICIES, DEFAULT_LIMITS } from "../../src/internal.js";
import { DEFAULT_TASK_LIMITS } from "../../src/public/stores.js";
import { CALLERS } from "./callers-schema.js";
import { COUNT, FILE, INTERFACE_NAME, MS, NAME, SECRET, switched, TEXT, URL_TEXT } from "./config-values.js";
import { POLICIES } from "./policy-schema.js";

/** A token as RFC 9110 §5.6.2 has it. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Headers that hold credentials: their values are secrets. */
const SECRET_HEADERS = /^(authorization|proxy-authorization|cookie|x-api-key)$/i;

const CREDENTIALS = z.strictObject({
  bearer: SECRET.optional().describe("Sent as a bearer token."),
  apiKey: SECRET.optional().describe("Put where the card of the agent wants it."),
  basic: z.strictObject({ user: TEXT, password: SECRET }).optional().describe("User and password, as RFC 7617 has them."),
  oauth2: z
    .strictObject({
      clientId: TEXT,
      clientSecret: SECRET,
      tokenUrl: URL_TEXT.optional(),
      scopes: z.array(TEXT).optional(),
    })
    .optional()
    .describe("A token is fetched with these and renewed before it expires."),
  headers: z
    .record(TEXT, z.union([TEXT, SECRET]))
    .superRefine((headers, context) => {
      for (const [name, value] of Object.entries(headers)) {
        if (!HEADER_NAME.test(name)) context.addIssue({ code: "custom", path: [name], message: "is no name of a header" });
        if (typeof value === "string" && SECRET_HEADERS.test(name))
          context.addIssue({ code: "custom", path: [name], message: "holds a secret: write { env: NAME } or { file: PATH }" });
      }
    })
    .optional()
    .describe("Further headers of every request."),
  tls: z
    .strictObject({ ca: FILE.optional(), cert: FILE.optional(), key: FILE.optional() })
    .optional()
    .describe("A private authority to believe, and the gateway's own certificate."),
});

const TRUST = z.strictObject({
  keys: z.array(FILE).optional().describe("Public keys whose signatures on the card count: PEM, JWK or JWKS."),
  jku: z.array(URL_TEXT).optional().describe("Key sets that count when a signature names exactly this address."),
  required: z.boolean().optional().describe("An agent whose card none of them signed is refused."),
});

/** What an agent has of its own, and what `defaults` may say for all of them. */
const COMMON = {
  mode: z
    .enum(["adopt", "relay"])
    .optional()
    .describe("Who owns the tasks: the gateway (adopt), or the agent (relay). Default: adopt."),
  strict: z.boolean().optional().describe("What the agent cannot do is refused instead of being stood in for."),
  card: z.enum(CARD_POLICIES).optional().describe("Default: signed anew where there are cardKeys, else without signatures."),
  timeoutMs: MS.optional().describe("For one try. Default: no limit but the transport's own."),
  credentials: CREDENTIALS.optional().describe(
    "What the gateway shows to the agent. Callers' own credentials never go along, unless callers says so.",
  ),
  callers: CALLERS.optional(),
  trust: TRUST.optional(),
  policies: POLICIES.optional(),
};

const UPSTREAM = z.strictObject({
  id: NAME.describe("In metrics, log lines and on the page."),
  url: URL_TEXT,
  weight: z.number().min(0).optional().describe("Share of the messages; 0 is a spare. Default: 1."),
  tags: z.array(TEXT).optional().describe("A message with tags goes only where all of them are known."),
  pin: INTERFACE_NAME.optional(),
  credentials: CREDENTIALS.optional(),
});

const AGENT = z
  .strictObject({
    name: NAME.describe("What the gateway calls it; part of addresses."),
    upstream: URL_TEXT.optional().describe("Where it is, where that is one address."),
    upstreams: z.array(UPSTREAM).min(1, "is empty").optional().describe("Where it is, where there are several."),
    pin: INTERFACE_NAME.optional().describe("Only this way is spoken with it. Default: what it is found to speak."),
    sharedKeys: z.boolean().optional().describe("Its upstreams are replicas over one store: a key said to one is known to all."),
    ...COMMON,
  })
  .superRefine(({ upstream, upstreams }, context) => {
    if ((upstream === undefined) === (upstreams === undefined))
      context.addIssue({ code: "custom", message: "must have either upstream or upstreams" });
  });

const TLS = z.strictObject({
  cert: FILE.describe("PEM."),
  key: FILE.describe("PEM."),
  clientCa: FILE.optional().describe("Callers may show certificates of this authority, and are known by them."),
});

const LISTEN = z.strictObject({
  port: z.int().min(0).max(65_535).optional().describe("0 takes any free one. Default: 8080."),
  host: TEXT.optional().describe("Default: 127.0.0.1."),
  publicUrl: URL_TEXT.optional().describe("The address callers use, where a proxy stands in front."),
  names: z.array(TEXT).optional().describe("Further host names it is reached by."),
  allowOrigins: z.array(TEXT).optional().describe("Web pages of these origins may call."),
  openToEverybody: z.boolean().optional().describe("Beyond this machine, without knowing callers."),
  tls: TLS.optional(),
});

const REDIS = z.string().superRefine((text, context) => {
  if (!/^rediss?:\/\//.test(text) || !URL.canParse(text))
    context.addIssue({ code: "custom", message: "must be the address of a Redis, such as redis://127.0.0.1:6379" });
});
const STORE = z.union(
  [
    z.literal("memory"),
    z.strictObject({ sqlite: FILE.describe("A folder."), durable: z.enum(["process", "power"]).optional() }),
    z.strictObject({
      redis: REDIS.describe("Shared by several gateways. An address with a password comes from the environment."),
    }),
  ],
  { error: "must be memory, { sqlite: FOLDER } or { redis: ADDRESS }" },
);

const AUTH = z.strictObject({
  tokens: SECRET.optional().describe("One name=token per line; a token has 16 characters or more."),
  apiKeys: SECRET.optional().describe("One name=key per line."),
  apiKeyIn: z
    .string()
    .regex(/^(header|query|cookie):[^\s:]+$/, "must look like header:X-Api-Key, query:key or cookie:sid")
    .optional()
    .describe("Default: header:X-Api-Key."),
  jwt: z
    .strictObject({
      issuer: TEXT,
      audience: z.array(TEXT).min(1, "needs one"),
      jwks: URL_TEXT,
      scopes: z.array(TEXT).optional(),
      tenantClaim: TEXT.optional(),
      tokenUrl: URL_TEXT.optional(),
    })
    .optional(),
});

/** The same members as the limits of the code, each a number above zero. */
function limitsOf(defaults: object) {
  const members = Object.entries(defaults).map(([name, value]) => [
    name,
    COUNT.optional().describe(`Default: ${String(value)}.`),
  ]);
  // Each member is made from a name of the defaults, so that the two cannot differ.
  return z.strictObject(Object.fromEntries(members) as { [name: string]: z.ZodOptional<typeof COUNT> });
}

/** What a configuration holds. Unknown members are mistakes. */
export const CONFIG_SCHEMA = z.strictObject({
  $schema: z.string().optional().describe("For editors."),
  listen: LISTEN.optional(),
  as: z
    .array(INTERFACE_NAME)
    .min(1, "is empty")
    .optional()
    .describe("What is spoken in front: a2a@1.0, a2a@0.3, acp. Default: everything."),
  agents: z.array(AGENT).min(1, "has no agent"),
  defaults: z.strictObject(COMMON).optional().describe("For every agent that does not say otherwise."),
  store: STORE.optional().describe("Where tasks live. Default: memory."),
  artifacts: FILE.optional().describe("A folder for large parts. Default: beside SQLite, else memory."),
  secret: SECRET.optional().describe("At least 16 bytes, the same for all gateways over one store."),
  auth: AUTH.optional().describe("Who may call. Default: everybody, and then only this machine is listened to."),
  cardKeys: z.array(FILE).optional().describe("Private keys that sign the cards (PEM or JWK)."),
  settings: z
    .record(TEXT, z.record(TEXT, z.union([z.string(), z.number(), z.boolean()])))
    .optional()
    .describe("Of protocols, by their ids."),
  push: switched({
    allow: z.array(TEXT).optional().describe("Hosts that webhooks may lead to whatever their address."),
  }).optional(),
  metrics: z.enum(["loopback", "admitted"]).optional().describe("Who may read /metrics. Default: nobody."),
  audit: FILE.optional().describe("Who was let in and who was refused; `koine audit` reads it."),
  inspect: switched({ sightings: COUNT.optional(), bodyBytes: COUNT.optional(), totalBytes: COUNT.optional() })
    .optional()
    .describe("Messages of late are kept in memory for the page and `koine inspect`. Default: true."),
  page: switched({
    token: SECRET.optional().describe("Default: made at start."),
    look: z.enum(["loopback", "admitted"]).optional(),
  })
    .optional()
    .describe("The page at /koine/. Default: true."),
  log: z
    .union([z.enum(["stderr", "none"]), z.strictObject({ file: FILE })])
    .optional()
    .describe("What policies did, as JSON lines. Default: none."),
  limits: limitsOf(DEFAULT_LIMITS).optional(),
  taskLimits: limitsOf(DEFAULT_TASK_LIMITS).optional(),
});

/** As it is written. */
export type ConfigDocument = z.infer<typeof CONFIG_SCHEMA>;
export type AgentDocument = ConfigDocument["agents"][number];
export type CredentialPlaces = z.infer<typeof CREDENTIALS>;
export type TrustPlaces = z.infer<typeof TRUST>;
