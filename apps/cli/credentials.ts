import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import type { ClientCredentials, Credentials } from "../../src/index.js";
import { usageError } from "./exit.js";
import { readPem } from "./serve-tls.js";

export interface CredentialOptions {
  /** The name of the environment variable that holds the token. */
  readonly tokenEnv?: string;
  readonly header?: readonly string[];
}

/** RFC 9110 §5.6.2. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Credentials for the peer. A token comes from the environment only. */
export function credentialsOf({ tokenEnv, header = [] }: CredentialOptions, env: NodeJS.ProcessEnv = process.env): Credentials {
  const headers = Object.fromEntries(header.map(readHeader));
  const hasAuthorization = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  const bearer = secretOf("--token-env", tokenEnv, "KOINE_TOKEN", env);
  return { headers, ...(bearer === undefined || hasAuthorization ? {} : { bearer }) };
}

/** The value is not repeated in the error: it may be a secret. */
function readHeader(line: string): readonly [string, string] {
  const colon = line.indexOf(":");
  const name = line.slice(0, colon).trim();
  const value = line.slice(colon + 1).trim();
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a header value has none
  if (colon < 1 || !HEADER_NAME.test(name) || /[\u0000-\u0008\u000a-\u001f\u007f]/.test(value))
    throw usageError("--header does not look like 'Name: value'", "For example --header 'X-Api-Key: …'");
  return [name, value];
}

/** Credentials beside a bearer token and headers. Secrets come from the environment or from files only. */
export interface IdentityCredentialOptions {
  readonly apiKeyEnv?: string;
  readonly clientId?: string;
  readonly clientSecretEnv?: string;
  readonly tokenUrl?: string;
  readonly scope?: readonly string[];
  readonly ca?: string;
  readonly crl?: string;
  readonly cert?: string;
  readonly key?: string;
}

/** To be spread into the credentials of the other options. */
export async function identityCredentials(
  options: IdentityCredentialOptions,
  env: NodeJS.ProcessEnv = process.env,
): Promise<Pick<Credentials, "apiKey" | "oauth2" | "tls">> {
  const apiKey = secretOf("--api-key-env", options.apiKeyEnv, "KOINE_API_KEY", env);
  const oauth2 = clientOf(options, env);
  const tls = await tlsOf(options);
  return {
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(oauth2 === undefined ? {} : { oauth2 }),
    ...(tls === undefined ? {} : { tls }),
  };
}

function clientOf(options: IdentityCredentialOptions, env: NodeJS.ProcessEnv): ClientCredentials | undefined {
  const { clientId, clientSecretEnv, tokenUrl, scope } = options;
  if (clientId === undefined) {
    if (clientSecretEnv !== undefined || tokenUrl !== undefined)
      throw usageError("--client-secret-env and --token-url need a client id", "Give --client-id too.");
    return undefined;
  }
  const clientSecret = secretOf("--client-secret-env", clientSecretEnv, "KOINE_CLIENT_SECRET", env);
  if (clientSecret === undefined)
    throw usageError("--client-id needs a secret", "Set KOINE_CLIENT_SECRET, or name another variable with --client-secret-env.");
  if (tokenUrl !== undefined && !/^https?:\/\//i.test(tokenUrl)) throw usageError("--token-url is not an http or https URL");
  return {
    clientId,
    clientSecret,
    ...(tokenUrl === undefined ? {} : { tokenUrl }),
    ...(scope === undefined ? {} : { scopes: scope }),
  };
}

/** A secret from the environment: command lines are visible to every user of the machine. */
export function secretOf(
  option: string,
  named: string | undefined,
  usual: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): string | undefined {
  const secret = env[named ?? usual ?? ""]?.trim();
  if (secret !== undefined && secret !== "") return secret;
  if (named === undefined) return undefined;
  throw usageError(`${option} names ${named}, and that variable is not set`, `Set it: export ${named}=…`);
}

async function tlsOf({ ca, crl, cert, key }: IdentityCredentialOptions): Promise<Credentials["tls"]> {
  if ((cert === undefined) !== (key === undefined))
    throw usageError("a certificate and its key belong together", "Give both --cert and --key.");
  if (ca === undefined && crl === undefined && cert === undefined) return undefined;
  const own = cert === undefined || key === undefined ? {} : await readOwn(cert, key);
  return {
    ...(ca === undefined ? {} : { ca: await readAuthority(ca) }),
    ...(crl === undefined ? {} : { crl: await readCrl(crl) }),
    ...own,
  };
}

async function readCrl(path: string): Promise<string> {
  const pem = await readPem(path, "--crl");
  if (!pem.includes("-----BEGIN X509 CRL-----"))
    throw usageError(`--crl: ${path} holds no revocation list`, "It is a PEM file with BEGIN X509 CRL in it.");
  return pem;
}

async function readAuthority(path: string): Promise<string> {
  const pem = await readPem(path, "--ca");
  checkCertificate(pem, path, "--ca");
  return pem;
}

/** Checks the files here: later an error would look like one of the connection. */
async function readOwn(certPath: string, keyPath: string): Promise<{ readonly cert: string; readonly key: string }> {
  const [cert, key] = await Promise.all([readPem(certPath, "--cert"), readPem(keyPath, "--key")]);
  const certificate = checkCertificate(cert, certPath, "--cert");
  if (!certificate.checkPrivateKey(privateKeyIn(key, keyPath)))
    throw usageError(`the key in ${keyPath} does not match the certificate in ${certPath}`);
  return { cert, key };
}

function checkCertificate(pem: string, path: string, option: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch {
    throw usageError(`${option}: ${path} holds no certificate`, "It is a PEM file with BEGIN CERTIFICATE in it.");
  }
}

function privateKeyIn(pem: string, path: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw usageError(`--key: ${path} holds no private key that can be read`, "It is a PEM file, without a passphrase.");
  }
}
