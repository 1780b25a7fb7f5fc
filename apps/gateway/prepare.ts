import { AgentError, type Credentials, type Maybe, type TlsOptions, type UpstreamCredentials } from "../../src/index.js";
import { type AuditSink, type CardSigner, type CardTrust, cardSigner } from "../../src/public/auth.js";
import type { Identity } from "../../src/public/identity.js";
import { isLoopbackHost } from "./addresses.js";
import { type CallerAdmission, readAdmission } from "./admission.js";
import type { AgentConfig, GatewayConfig } from "./config.js";
import type { ConfigDocument } from "./config-schema.js";
import { endedOpenings, type FloorLink, floorLine, floorLinks } from "./floor-report.js";
import { profileWarnings } from "./profile.js";
import { checkCertificate, checkCrl, readCallers, readCredentials, readTrust } from "./read-credentials.js";
import { IdentityReader } from "./read-identity.js";
import { SecretReader } from "./secrets.js";

/** Shorter secrets can be guessed. */
const SECRET_BYTES = 16;
const TOKEN_CHARACTERS = 16;

/** An agent with the credentials and identities of its upstreams, in the same order. */
export interface PreparedAgent {
  readonly config: AgentConfig;
  readonly credentials: readonly Credentials[];
  readonly identities: readonly Maybe<Identity>[];
  readonly trust: CardTrust | undefined;
  readonly callers: UpstreamCredentials;
}

/** A configuration with all referenced files and variables read. */
export interface Prepared {
  readonly config: GatewayConfig;
  readonly agents: readonly PreparedAgent[];
  readonly callerAdmission: CallerAdmission;
  /** The identity that the gateway is served under. */
  readonly identity: Maybe<Identity>;
  readonly tls: TlsOptions | undefined;
  readonly cardKeys: readonly CardSigner[];
  /** Key for pseudonymizing callers; undefined if none is configured. */
  readonly secret: Uint8Array | undefined;
  /** The configured token of the admin listener. */
  readonly adminToken: string | undefined;
  /** The certificate of the admin listener. */
  readonly adminTls: TlsOptions | undefined;
  /** Upstreams that get less security than calls must have. */
  readonly floor: readonly FloorLink[];
  readonly warnings: readonly string[];
}

/** Reads every file and variable that a configuration references. Throws ConfigError with all that cannot be read. */
export async function prepare(config: GatewayConfig, audit?: AuditSink, now: () => number = Date.now): Promise<Prepared> {
  const { document } = config;
  const secrets = new SecretReader(config);
  const identities = new IdentityReader(secrets, now);
  const [callerAdmission, identity, tls, cardKeys, secret, adminToken, adminTls, agents] = await Promise.all([
    readAdmission(document, secrets, audit),
    identities.served(document),
    readServerTls(document, secrets),
    readCardKeys(document, secrets),
    readSecret(document, secrets),
    readAdminToken(document, secrets),
    readAdminTls(document, secrets),
    Promise.all(config.agents.map((agent) => prepareAgent(agent, secrets, identities))),
  ]);
  secrets.problems.throwIfAny();
  const floor = await floorLinks(config, now);
  const warnings = [
    ...new Set([
      ...secrets.warnings,
      ...adminWarnings(document),
      ...config.agents.flatMap(warningsOf),
      ...profileWarnings(document),
      ...floor.map(floorLine),
      ...endedOpenings(config, now()),
    ]),
  ];
  return { config, agents, callerAdmission, identity, tls, cardKeys, secret, adminToken, adminTls, floor, warnings };
}

async function prepareAgent(config: AgentConfig, secrets: SecretReader, identities: IdentityReader): Promise<PreparedAgent> {
  const [trust, callers, signers, ...credentials] = await Promise.all([
    readTrust(config, secrets),
    readCallers(config, secrets),
    Promise.all(config.upstreams.map((upstream) => identities.upstream(upstream))),
    ...config.upstreams.map((upstream) => readCredentials(upstream, secrets)),
  ]);
  return { config, trust, callers, credentials, identities: signers };
}

/** Settings that are valid but have consequences the operator may not expect. */
function warningsOf({ name, mode, upstreams, sharedKeys, policies }: AgentConfig): readonly string[] {
  const warnings: string[] = [];
  if (mode === "relay")
    warnings.push(`${name} uses mode relay: the upstream sees a single caller, and callers can access each other's tasks`);
  if (policies.hedge !== undefined && upstreams.length > 1 && !sharedKeys)
    warnings.push(`${name} uses hedge without sharedKeys: messages are not hedged across upstreams, only read requests are`);
  return warnings;
}

async function readServerTls({ listen }: ConfigDocument, secrets: SecretReader): Promise<TlsOptions | undefined> {
  const files = listen?.tls;
  if (files === undefined) return undefined;
  const [cert, key, clientCa, crl] = await Promise.all([
    secrets.file(files.cert, ["listen", "tls", "cert"]),
    secrets.secretFile(files.key, ["listen", "tls", "key"]),
    secrets.file(files.clientCa, ["listen", "tls", "clientCa"]),
    secrets.file(files.crl, ["listen", "tls", "crl"]),
  ]);
  if (cert === undefined || key === undefined) return undefined;
  checkCertificate(cert, ["listen", "tls", "cert"], secrets);
  if (crl !== undefined) checkCrl(crl, ["listen", "tls", "crl"], secrets);
  return { cert, key, clientCa, crl };
}

async function readCardKeys({ cardKeys = [] }: ConfigDocument, secrets: SecretReader): Promise<readonly CardSigner[]> {
  const signers = await Promise.all(
    cardKeys.map(async (file, index) => {
      const key = await secrets.secretFile(file, ["cardKeys", index]);
      try {
        return key === undefined ? undefined : cardSigner({ key });
      } catch (thrown) {
        secrets.problems.add(["cardKeys", index], `is invalid: ${AgentError.from(thrown).message}`);
        return undefined;
      }
    }),
  );
  return signers.filter((signer) => signer !== undefined);
}

async function readSecret({ secret }: ConfigDocument, secrets: SecretReader): Promise<Uint8Array | undefined> {
  const text = await secrets.secret(secret, ["secret"]);
  if (text === undefined) return undefined;
  const bytes = Buffer.from(text);
  if (bytes.length < SECRET_BYTES) secrets.problems.add(["secret"], `is too short: at least ${SECRET_BYTES} bytes are required`);
  return bytes;
}

function adminWarnings({ admin }: ConfigDocument): readonly string[] {
  if (typeof admin !== "object" || admin.tls !== undefined) return [];
  const { host } = admin;
  if (host === undefined || isLoopbackHost(host)) return [];
  return [`the admin listener on ${host} has no TLS: its token can be read on the network`];
}

async function readAdminTls({ admin }: ConfigDocument, secrets: SecretReader): Promise<TlsOptions | undefined> {
  const files = typeof admin === "object" ? admin.tls : undefined;
  if (files === undefined) return undefined;
  const [cert, key] = await Promise.all([
    secrets.file(files.cert, ["admin", "tls", "cert"]),
    secrets.secretFile(files.key, ["admin", "tls", "key"]),
  ]);
  if (cert === undefined || key === undefined) return undefined;
  checkCertificate(cert, ["admin", "tls", "cert"], secrets);
  return { cert, key };
}

async function readAdminToken({ admin }: ConfigDocument, secrets: SecretReader): Promise<string | undefined> {
  const reference = typeof admin === "object" ? admin.token : undefined;
  const token = await secrets.secret(reference, ["admin", "token"]);
  if (token !== undefined && token.length < TOKEN_CHARACTERS)
    secrets.problems.add(["admin", "token"], `is too short: at least ${TOKEN_CHARACTERS} characters are required`);
  return token;
}
