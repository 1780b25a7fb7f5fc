import { AgentError, type Credentials, type TlsOptions, type UpstreamCredentials } from "../../src/index.js";
import { type AuditSink, type CardSigner, type CardTrust, cardSigner } from "../../src/public/auth.js";
import { type CallerAdmission, readAdmission } from "./admission.js";
import type { AgentConfig, GatewayConfig } from "./config.js";
import type { ConfigDocument } from "./config-schema.js";
import { checkCertificate, readCallers, readCredentials, readTrust } from "./read-credentials.js";
import { Materials } from "./secrets.js";

/** With this few bytes a secret can be guessed. */
const SECRET_BYTES = 16;
const TOKEN_CHARACTERS = 16;

/** An agent with what is shown to its upstreams, in their order. */
export interface PreparedAgent {
  readonly config: AgentConfig;
  readonly credentials: readonly Credentials[];
  readonly trust: CardTrust | undefined;
  readonly callers: UpstreamCredentials;
}

/** A configuration with everything that it names read. */
export interface Prepared {
  readonly config: GatewayConfig;
  readonly agents: readonly PreparedAgent[];
  readonly door: CallerAdmission;
  readonly tls: TlsOptions | undefined;
  readonly cardKeys: readonly CardSigner[];
  /** For veiling the names of callers; undefined where none is configured. */
  readonly secret: Uint8Array | undefined;
  readonly pageToken: string | undefined;
  readonly warnings: readonly string[];
}

/** Reads every file and variable that a configuration names. Throws ConfigError with all that cannot be had. */
export async function prepare(config: GatewayConfig, audit?: AuditSink): Promise<Prepared> {
  const { document } = config;
  const materials = new Materials(config);
  const [door, tls, cardKeys, secret, pageToken, agents] = await Promise.all([
    readAdmission(document, materials, audit),
    readServerTls(document, materials),
    readCardKeys(document, materials),
    readSecret(document, materials),
    readPageToken(document, materials),
    Promise.all(config.agents.map((agent) => prepareAgent(agent, materials))),
  ]);
  materials.complaints.throwAny();
  const warnings = [...new Set([...materials.warnings, ...config.agents.flatMap(warningsOf)])];
  return { config, agents, door, tls, cardKeys, secret, pageToken, warnings };
}

async function prepareAgent(config: AgentConfig, materials: Materials): Promise<PreparedAgent> {
  const [trust, callers, ...credentials] = await Promise.all([
    readTrust(config, materials),
    readCallers(config, materials),
    ...config.upstreams.map((upstream) => readCredentials(upstream, materials)),
  ]);
  return { config, trust, callers, credentials };
}

/** What an operator should have thought of. */
function warningsOf({ name, mode, upstreams, sharedKeys, policies }: AgentConfig): readonly string[] {
  const warnings: string[] = [];
  if (mode === "relay")
    warnings.push(`${name} is relayed: it sees one caller where there are many, and all of them can name each other's tasks`);
  if (policies.hedge !== undefined && upstreams.length > 1 && !sharedKeys)
    warnings.push(`${name} has hedging and no sharedKeys: messages get no second attempt elsewhere, only questions do`);
  return warnings;
}

async function readServerTls({ listen }: ConfigDocument, materials: Materials): Promise<TlsOptions | undefined> {
  const files = listen?.tls;
  if (files === undefined) return undefined;
  const [cert, key, clientCa] = await Promise.all([
    materials.file(files.cert, ["listen", "tls", "cert"]),
    materials.secretFile(files.key, ["listen", "tls", "key"]),
    materials.file(files.clientCa, ["listen", "tls", "clientCa"]),
  ]);
  if (cert === undefined || key === undefined) return undefined;
  checkCertificate(cert, ["listen", "tls", "cert"], materials);
  return { cert, key, clientCa };
}

async function readCardKeys({ cardKeys = [] }: ConfigDocument, materials: Materials): Promise<readonly CardSigner[]> {
  const signers = await Promise.all(
    cardKeys.map(async (file, index) => {
      const key = await materials.secretFile(file, ["cardKeys", index]);
      try {
        return key === undefined ? undefined : cardSigner({ key });
      } catch (thrown) {
        materials.complaints.add(["cardKeys", index], `is no good: ${AgentError.from(thrown).message}`);
        return undefined;
      }
    }),
  );
  return signers.filter((signer) => signer !== undefined);
}

async function readSecret({ secret }: ConfigDocument, materials: Materials): Promise<Uint8Array | undefined> {
  const text = await materials.secret(secret, ["secret"]);
  if (text === undefined) return undefined;
  const bytes = Buffer.from(text);
  if (bytes.length < SECRET_BYTES)
    materials.complaints.add(["secret"], `has at least ${SECRET_BYTES} bytes, and this one has fewer`);
  return bytes;
}

async function readPageToken({ page }: ConfigDocument, materials: Materials): Promise<string | undefined> {
  const place = typeof page === "object" ? page.token : undefined;
  const token = await materials.secret(place, ["page", "token"]);
  if (token !== undefined && token.length < TOKEN_CHARACTERS)
    materials.complaints.add(["page", "token"], `has at least ${TOKEN_CHARACTERS} characters, and this one has fewer`);
  return token;
}
