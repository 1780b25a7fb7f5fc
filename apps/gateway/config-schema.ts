import { z } from "zod";
import { AgentError } from "../../src/index.js";
import { CARD_POLICIES, DEFAULT_LIMITS, ProxyTrust } from "../../src/internal.js";
import { DEFAULT_TASK_LIMITS } from "../../src/public/stores.js";
import { CALLERS } from "./callers-schema.js";
import { ADDRESS, COUNT, DID, FILE, INTERFACE_NAME, MS, NAME, SECRET, switched, TEXT, URL_TEXT } from "./config-values.js";
import { CLEAR_TEXT, OPENING, REQUIRE } from "./floor-schema.js";
import { LEARN } from "./learn-schema.js";
import { ADMIN, LOG, LOG_FORMAT, LOG_LEVEL, METRIC_NAMES, METRICS, TRACING } from "./operator-schema.js";
import { POLICIES } from "./policy-schema.js";
import { STORE } from "./store-schema.js";

/** A token as RFC 9110 §5.6.2 has it. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Headers that hold credentials: their values are secrets. */
const SECRET_HEADERS = /^(authorization|proxy-authorization|cookie|x-api-key)$/i;

const CREDENTIALS = z.strictObject({
  bearer: SECRET.optional().describe("Sent as a bearer token."),
  apiKey: SECRET.optional().describe("Sent where the agent's card requires it."),
  basic: z.strictObject({ user: TEXT, password: SECRET }).optional().describe("HTTP basic authentication (RFC 7617)."),
  oauth2: z
    .strictObject({
      clientId: TEXT,
      clientSecret: SECRET,
      tokenUrl: URL_TEXT.optional(),
      scopes: z.array(TEXT).optional(),
    })
    .optional()
    .describe("Client credentials grant; the token is renewed before it expires."),
  headers: z
    .record(TEXT, z.union([TEXT, SECRET]))
    .superRefine((headers, context) => {
      for (const [name, value] of Object.entries(headers)) {
        if (!HEADER_NAME.test(name)) context.addIssue({ code: "custom", path: [name], message: "is not a valid header name" });
        if (typeof value === "string" && SECRET_HEADERS.test(name))
          context.addIssue({ code: "custom", path: [name], message: "is a secret header: use { env: NAME } or { file: PATH }" });
      }
    })
    .optional()
    .describe("Additional headers of every request."),
  tls: z
    .strictObject({
      ca: FILE.optional(),
      crl: FILE.optional().describe("Revocation lists of the authorities (PEM): revoked agents are not called."),
      cert: FILE.optional(),
      key: FILE.optional(),
    })
    .optional()
    .describe("A private certificate authority to trust, and the gateway's client certificate."),
});

const TRUST = z.strictObject({
  keys: z.array(FILE).optional().describe("Public keys trusted to sign the agent's card: PEM, JWK or JWKS."),
  jku: z.array(URL_TEXT).optional().describe("Key set URLs trusted when a signature's jku is exactly this URL."),
  required: z.boolean().optional().describe("Reject an agent whose card has no trusted signature."),
});

/** Members of an agent that `defaults` may set for all agents. */
const COMMON = {
  mode: z
    .enum(["adopt", "relay"])
    .optional()
    .describe("Who owns the tasks: the gateway (adopt) or the agent (relay). Default: adopt."),
  strict: z.boolean().optional().describe("Reject operations that the agent does not support instead of emulating them."),
  callsPerCaller: COUNT.optional().describe(
    "Concurrent calls of one caller to the agent, in adopt mode, with those it dropped. Default: 10,000; 50 in the recommended profile.",
  ),
  card: z.enum(CARD_POLICIES).optional().describe("Default: re-signed when cardKeys are configured, otherwise unsigned."),
  timeoutMs: MS.optional().describe("Timeout of one attempt. Default: only the limits of the transport."),
  connections: COUNT.optional().describe(
    "Concurrent calls to each upstream; an open stream is one. Over HTTP/1.1 each has a connection. Default: 4096.",
  ),
  connectionQueue: COUNT.optional().describe(
    "Calls that may wait for a connection to an upstream; more are refused with overloaded. Default: 10000.",
  ),
  credentials: CREDENTIALS.optional().describe(
    "Credentials that the gateway sends to the agent. Callers' credentials are not forwarded unless callers is set.",
  ),
  identity: FILE.optional().describe(
    "The identity file that signs every request to the agent; `koine identity create` makes one.",
  ),
  callers: CALLERS.optional(),
  trust: TRUST.optional(),
  learn: LEARN.optional().describe(
    "Choose among the protocols that the agent speaks by the outcomes of earlier calls, which are kept in the store. Default: false.",
  ),
  policies: POLICIES.optional(),
  require: REQUIRE.optional().describe("Security that callers must bring, and that calls to the agent must have."),
};

const UPSTREAM = z.strictObject({
  id: NAME.describe("Name in metrics, log lines and on the page."),
  url: ADDRESS,
  weight: z.number().min(0).optional().describe("Relative share of messages; 0 is a standby. Default: 1."),
  tags: z.array(TEXT).optional().describe("A message with tags is sent only to upstreams that have all of them."),
  pin: INTERFACE_NAME.optional(),
  credentials: CREDENTIALS.optional(),
  identity: FILE.optional().describe("The identity file that signs every request to this upstream."),
  require: REQUIRE.optional().describe("Security that calls to this upstream must have, in addition."),
});

const AGENT = z
  .strictObject({
    name: NAME.describe("Name of the agent in the gateway; part of its URL."),
    upstream: ADDRESS.optional().describe("URL or DID of the agent, if there is one."),
    upstreams: z.array(UPSTREAM).min(1, "is empty").optional().describe("URLs or DIDs of the agent, if there are several."),
    pin: INTERFACE_NAME.optional().describe("The only interface to use. Default: the discovered one."),
    sharedKeys: z
      .boolean()
      .optional()
      .describe("The upstreams are replicas with a shared store: an idempotency key is valid on all of them."),
    ...COMMON,
  })
  .superRefine(({ upstream, upstreams }, context) => {
    if ((upstream === undefined) === (upstreams === undefined))
      context.addIssue({ code: "custom", message: "must have either upstream or upstreams" });
  });

const TLS = z.strictObject({
  cert: FILE.describe("PEM."),
  key: FILE.describe("PEM."),
  clientCa: FILE.optional().describe("Authenticate callers by client certificates of this authority."),
  crl: FILE.optional().describe("Revocation lists of that authority (PEM). Reloaded with the certificate."),
});

const TRUSTED_PROXIES = z
  .strictObject({
    addresses: z.array(TEXT).describe("Addresses and networks of the proxies: 10.0.0.7, 10.0.0.0/8."),
    by: z
      .enum(["x-forwarded-for", "forwarded", "proxy-protocol"])
      .optional()
      .describe("Where they state the caller's address; nothing else is read. Default: x-forwarded-for."),
    hops: COUNT.optional().describe("How many of them a request passes at most. Default: 1."),
  })
  .superRefine((proxies, context) => {
    try {
      new ProxyTrust(proxies);
    } catch (thrown) {
      context.addIssue({ code: "custom", message: `is invalid: ${AgentError.from(thrown).message}` });
    }
  });

const LISTEN = z.strictObject({
  port: z.int().min(0).max(65_535).optional().describe("0 selects any free port. Default: 8080."),
  host: TEXT.optional().describe("Default: 127.0.0.1."),
  publicUrl: URL_TEXT.optional().describe("The URL that callers use, if there is a proxy in front of the gateway."),
  names: z.array(TEXT).optional().describe("Additional host names of the gateway."),
  trustedProxies: TRUSTED_PROXIES.optional().describe(
    "Proxies in front: only they are believed about a caller's address. Default: none.",
  ),
  allowOrigins: z.array(TEXT).optional().describe("Origins that may call from a browser (CORS)."),
  openToEverybody: z.boolean().optional().describe("Accept remote callers without authentication."),
  tls: TLS.optional(),
});

const AUTH = z.strictObject({
  gateways: z
    .array(TEXT)
    .optional()
    .describe("Callers that are gateways and speak for others: their messages keep the source that they state."),
  tenants: z
    .record(z.string(), z.array(TEXT))
    .optional()
    .describe("Tenants that a caller may name, by caller. Default: those of its token; anonymous callers may name any."),
  loopback: NAME.optional().describe(
    "Admit callers on this machine without credentials, as loopback:NAME. They count as authenticated: they may read an extended card.",
  ),
  tokens: SECRET.optional().describe("One name=token per line; a token has 16 characters or more."),
  apiKeys: SECRET.optional().describe("One name=key per line."),
  apiKeyIn: z
    .string()
    .regex(/^(header|query|cookie):[^\s:]+$/, "must look like header:X-Api-Key, query:key or cookie:sid")
    .optional()
    .describe("Default: header:X-Api-Key."),
  dids: z
    .array(DID)
    .min(1, "needs at least one")
    .optional()
    .describe("DIDs of callers, which sign their requests (RFC 9421) with a key of their DID document."),
  jwt: z
    .strictObject({
      issuer: TEXT,
      audience: z.array(TEXT).min(1, "needs at least one"),
      jwks: URL_TEXT,
      scopes: z.array(TEXT).optional(),
      tenantClaim: TEXT.optional(),
      tokenUrl: URL_TEXT.optional(),
    })
    .optional(),
});

/** A schema with the members of the given defaults, each a positive number. */
function limitsOf(defaults: object) {
  const members = Object.entries(defaults).map(([name, value]) => [
    name,
    COUNT.optional().describe(`Default: ${String(value)}.`),
  ]);
  // Derived from the defaults, so that the two cannot differ.
  return z.strictObject(Object.fromEntries(members) as { [name: string]: z.ZodOptional<typeof COUNT> });
}

/** Schema of the gateway configuration. Unknown members are errors. */
export const CONFIG_SCHEMA = z.strictObject({
  $schema: z.string().optional().describe("For editors."),
  profile: z
    .enum(["minimal", "recommended"])
    .optional()
    .describe(
      "recommended: refuse to start without what production needs, warn about the rest, smaller limits. Default: minimal.",
    ),
  listen: LISTEN.optional(),
  as: z
    .array(INTERFACE_NAME)
    .min(1, "is empty")
    .optional()
    .describe("Interfaces to serve to callers: a2a@1.0, a2a@0.3/JSONRPC, acp. Default: all."),
  grpc: z
    .boolean()
    .optional()
    .describe("False: no gRPC interface is listed on cards or served, for clients that accept only http URLs. Default: true."),
  agents: z.array(AGENT).min(1, "has no agent"),
  defaults: z.strictObject(COMMON).optional().describe("Defaults for all agents."),
  clearText: CLEAR_TEXT.optional().describe(
    "How far calls that arrived over TLS may be sent on unencrypted, to upstreams configured with http: to private addresses, or only on this host. Default: private.",
  ),
  openings: z.array(OPENING).optional().describe("Upstreams that get less security than calls must have, until a date."),
  store: STORE.optional().describe("Task store. Default: memory."),
  artifacts: FILE.optional().describe(
    "A directory for large parts. Default: next to the SQLite store, or in the Redis of the store, otherwise memory.",
  ),
  secret: SECRET.optional().describe(
    "Key for pseudonymizing callers: at least 16 bytes, the same for all gateways that share a store.",
  ),
  auth: AUTH.optional().describe("Authentication of callers. Default: none, which allows only a loopback listener."),
  identity: FILE.optional().describe(
    "The identity file of the gateway. Its DID must be the did:web of listen.publicUrl, where its document is published, unless a served protocol uses it.",
  ),
  cardKeys: z.array(FILE).optional().describe("Private keys for signing agent cards (PEM or JWK)."),
  settings: z
    .record(TEXT, z.record(TEXT, z.union([z.string(), z.number(), z.boolean()])))
    .optional()
    .describe("Protocol settings, by protocol id."),
  push: switched({
    allow: z.array(TEXT).optional().describe("Webhook hosts that are allowed even with a private address."),
  }).optional(),
  metrics: METRICS.optional().describe(
    "true: /metrics of the admin listener. admitted: on the callers' port too, for admitted callers. Default: false.",
  ),
  metricNames: METRIC_NAMES.optional().describe(
    "both: also under OpenMetrics names with namespace and unit, such as koine_request_latency_seconds. Default: upper.",
  ),
  tracing: switched(TRACING)
    .optional()
    .describe(
      "Export traces by OTLP over HTTP, as the OTEL_* variables say. `koine gateway` does so also if OTEL_EXPORTER_OTLP_ENDPOINT is set; false: never. Default: false.",
    ),
  audit: FILE.optional().describe("Audit log of admitted and rejected callers; read it with `koine audit`."),
  inspect: switched({ sightings: COUNT.optional(), bodyBytes: COUNT.optional(), totalBytes: COUNT.optional() })
    .optional()
    .describe("Keep recent messages in memory for the page and `koine inspect`. Default: true."),
  page: z
    .boolean("must be true or false: its token is admin.token, and page.look is admin.readers")
    .optional()
    .describe("The dashboard at /koine/ of the admin listener. Default: true."),
  admin: switched(ADMIN)
    .optional()
    .describe("The operator's listener: page, inspector, metrics and health details, always with a token. Default: true."),
  log: LOG.optional().describe("Policy events and changes of health. Default: none."),
  logLevel: LOG_LEVEL.optional().describe("warn: only what needs attention. Default: info."),
  logFormat: LOG_FORMAT.optional().describe("One JSON object per line, or text for people. Default: json."),
  limits: limitsOf(DEFAULT_LIMITS).optional(),
  taskLimits: limitsOf(DEFAULT_TASK_LIMITS).optional(),
});

/** A configuration as written in the file. */
export type ConfigDocument = z.infer<typeof CONFIG_SCHEMA>;
export type AgentDocument = ConfigDocument["agents"][number];
export type CredentialReferences = z.infer<typeof CREDENTIALS>;
export type TrustReferences = z.infer<typeof TRUST>;
