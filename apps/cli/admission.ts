import { readFile, stat } from "node:fs/promises";
import { AgentError } from "../../src/index.js";
import { parseDid } from "../../src/internal.js";
import {
  type Admission,
  type ApiKeyLocation,
  type AuditFile,
  anyOf,
  apiKeys,
  auditKeys,
  bearerTokens,
  clientCertificates,
  type JwtOptions,
  jwtTokens,
  openAdmission,
  openAuditFile,
  parseTokens,
} from "../../src/public/auth.js";
import { didSignatures } from "../../src/public/identity.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { problemOf } from "./problem.js";

/** Who may call, with a description for the start-up text. */
export interface CallerAdmission {
  readonly admission: Admission;
  readonly description: string;
  readonly warning: string | undefined;
}

const SECRET_FILE_BYTES = 1024 * 1024;

/** Tokens come from a file or from KOINE_TOKENS, never from the command line. */
export async function readAdmission(
  tokenFile: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): Promise<CallerAdmission> {
  const text = tokenFile === undefined ? env["KOINE_TOKENS"] : await readSecretFile(tokenFile, "token");
  if (text === undefined || (tokenFile === undefined && text.trim() === ""))
    return { admission: openAdmission(), description: "anyone who can reach this address", warning: undefined };
  const tokens = readTokens(text, tokenFile ?? "KOINE_TOKENS");
  const warning = tokenFile === undefined ? undefined : await secretFileWarning(tokenFile);
  return { admission: bearerTokens(tokens), description: `holders of a token: ${[...tokens.keys()].join(", ")}`, warning };
}

/** The errors of `parseTokens` name entries by number and show none of them. */
function readTokens(text: string, source: string): ReadonlyMap<string, string> {
  try {
    return parseTokens(text);
  } catch (thrown) {
    throw usageError(
      `${source}: ${AgentError.from(thrown).message}`,
      "It has one name=token per line; a token has 16 characters or more.",
    );
  }
}

/** A file with one name=secret per line. */
async function readSecretFile(path: string, word: "token" | "key"): Promise<string> {
  const facts = await stat(path).catch((thrown: NodeJS.ErrnoException) => {
    throw usageError(`the ${word} file ${path} cannot be read (${thrown.code ?? "unknown reason"})`);
  });
  if (!facts.isFile() || facts.size > SECRET_FILE_BYTES) throw usageError(`${path} is not a file with ${word}s`);
  return readFile(path, "utf8").catch((thrown: NodeJS.ErrnoException) => {
    throw usageError(`the ${word} file ${path} cannot be read (${thrown.code ?? "unknown reason"})`);
  });
}

/** A warning about a secret file that others can read. */
async function secretFileWarning(path: string): Promise<string | undefined> {
  const { mode } = await stat(path);
  return (mode & 0o004) === 0 ? undefined : `every user of this machine can read ${path}: chmod 600 ${path}`;
}

/** Authentication options, beside static tokens. */
export interface IdentityOptions {
  readonly apiKeyFile?: string;
  readonly apiKeyIn: string;
  readonly jwtIssuer?: string;
  readonly jwtAudience?: readonly string[];
  readonly jwks?: string;
  readonly jwtScope?: readonly string[];
  readonly jwtTenantClaim?: string;
  readonly jwtTokenUrl?: string;
  /** Enables client certificates; the file is read with the TLS options. */
  readonly clientCa?: string;
  /** DIDs of callers. */
  readonly allowDid?: readonly string[];
  readonly audit?: string;
}

const IDS = { now: Date.now };

/** The log of `--audit`. A later write failure is reported on stderr, once. */
export function openAudit({ audit }: Pick<IdentityOptions, "audit">, say: (line: string) => void): AuditFile | undefined {
  if (audit === undefined) return undefined;
  try {
    return openAuditFile(audit, { onProblem: ({ message }) => say(message) });
  } catch (thrown) {
    throw new CliError(EXIT.failure, problemOf(thrown).message, { hint: "Choose another file with --audit." });
  }
}

/** Static tokens and every other authentication method of the options. Issuers come before tokens, which claim every bearer token. */
export async function readIdentity(
  options: IdentityOptions,
  tokens: CallerAdmission,
  audit?: AuditFile,
  env: NodeJS.ProcessEnv = process.env,
): Promise<CallerAdmission> {
  const methods: { readonly admission: Admission; readonly description: string }[] = [];
  if (options.clientCa !== undefined)
    methods.push({ admission: clientCertificates(), description: `holders of a certificate by ${options.clientCa}` });
  if (options.allowDid !== undefined)
    methods.push({
      admission: didSignatures({ dids: options.allowDid.map(checkedDid) }),
      description: `holders of a key of ${options.allowDid.join(", ")}`,
    });
  const keys = await readKeys(options.apiKeyFile, env);
  if (keys !== undefined)
    methods.push({
      admission: asUsage(() => apiKeys(keys, readLocation(options.apiKeyIn))),
      description: `holders of a key: ${[...keys.keys()].join(", ")}`,
    });
  const jwt = jwtOptionsOf(options, audit);
  if (jwt !== undefined)
    methods.push({ admission: asUsage(() => jwtTokens(jwt)), description: `holders of a token by ${jwt.issuer}` });
  if (methods.length === 0) return tokens;
  if (tokens.admission.open !== true) methods.push(tokens);
  const keyWarning = options.apiKeyFile === undefined ? undefined : await secretFileWarning(options.apiKeyFile);
  const warnings = [tokens.warning, keyWarning].filter((each) => each !== undefined);
  return {
    admission: anyOf(...methods.map(({ admission }) => admission)),
    description: methods.map(({ description }) => description).join("; "),
    warning: warnings.length === 0 ? undefined : warnings.join("; "),
  };
}

function jwtOptionsOf(options: IdentityOptions, audit: AuditFile | undefined): JwtOptions | undefined {
  const { jwtIssuer: issuer, jwks, jwtAudience: audience, jwtScope, jwtTenantClaim, jwtTokenUrl } = options;
  // Any JWT option asks for authentication, so an incomplete set must not leave the server open.
  const hasJwtOption = [issuer, jwks, audience, jwtScope, jwtTenantClaim, jwtTokenUrl].some((each) => each !== undefined);
  if (!hasJwtOption) return undefined;
  if (issuer === undefined || jwks === undefined || audience === undefined)
    throw usageError("tokens need an issuer, its keys and an audience", "Give --jwt-issuer, --jwks and --jwt-audience.");
  return {
    issuer,
    audience,
    jwks: { url: jwks },
    requiredScopes: jwtScope ?? [],
    ...(jwtTenantClaim === undefined ? {} : { tenantClaim: jwtTenantClaim }),
    ...(jwtTokenUrl === undefined ? {} : { declare: { kind: "clientCredentials", tokenUrl: jwtTokenUrl } }),
    ...(audit === undefined ? {} : { onKeys: auditKeys(audit, issuer, IDS) }),
  };
}

async function readKeys(path: string | undefined, env: NodeJS.ProcessEnv): Promise<ReadonlyMap<string, string> | undefined> {
  const text = path === undefined ? env["KOINE_API_KEYS"] : await readSecretFile(path, "key");
  return text === undefined || (path === undefined && text.trim() === "")
    ? undefined
    : asUsage(() => parseTokens(text), path ?? "KOINE_API_KEYS");
}

function readLocation(text: string): ApiKeyLocation {
  const colon = text.indexOf(":");
  const location = text.slice(0, colon);
  if (location !== "header" && location !== "query" && location !== "cookie")
    throw usageError("--api-key-in: unknown location", "It looks like header:X-Api-Key, query:key or cookie:sid.");
  const name = text.slice(colon + 1);
  if (name === "") throw usageError("--api-key-in: the name of the key is missing", `It looks like ${location}:NAME.`);
  return { location, name };
}

/** Invalid values come from the command line; their errors show no secret. */
function asUsage<T>(make: () => T, source?: string): T {
  try {
    return make();
  } catch (thrown) {
    if (!(thrown instanceof AgentError)) throw thrown;
    throw usageError(source === undefined ? thrown.message : `${source}: ${thrown.message}`);
  }
}

/** A DID of `--allow-did`. */
export function checkedDid(did: string): string {
  if (parseDid(did) !== undefined) return did;
  throw usageError(`--allow-did ${did} is not a DID`, "Write did:web:HOST or did:key:KEY; `koine identity show` prints it.");
}
