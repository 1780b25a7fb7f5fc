import { X509Certificate } from "node:crypto";
import { basename } from "node:path";
import type { ClientCredentials, Credentials, UpstreamCredentials } from "../../src/index.js";
import type { CardTrust, TrustedKey } from "../../src/public/auth.js";
import type { MemberPath } from "../config/index.js";
import type { AgentConfig, UpstreamConfig } from "./config.js";
import type { CredentialReferences } from "./config-schema.js";
import type { SecretReader } from "./secrets.js";

/** Reads the credentials that the gateway sends to one upstream. */
export async function readCredentials(
  { credentials: references, credentialPath: path }: UpstreamConfig,
  secrets: SecretReader,
): Promise<Credentials> {
  const [bearer, apiKey, oauth2, headers, tls] = await Promise.all([
    secrets.secret(references.bearer, [...path, "bearer"]),
    secrets.secret(references.apiKey, [...path, "apiKey"]),
    readClient(references.oauth2, [...path, "oauth2"], secrets),
    readHeaders(references, path, secrets),
    readTls(references.tls, [...path, "tls"], secrets),
  ]);
  return {
    headers,
    ...(bearer === undefined ? {} : { bearer }),
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(oauth2 === undefined ? {} : { oauth2 }),
    ...(tls === undefined ? {} : { tls }),
  };
}

async function readClient(
  references: CredentialReferences["oauth2"],
  path: MemberPath,
  secrets: SecretReader,
): Promise<ClientCredentials | undefined> {
  const clientSecret = await secrets.secret(references?.clientSecret, [...path, "clientSecret"]);
  if (references === undefined || clientSecret === undefined) return undefined;
  const { clientId, tokenUrl, scopes } = references;
  return { clientId, clientSecret, ...(tokenUrl === undefined ? {} : { tokenUrl }), ...(scopes === undefined ? {} : { scopes }) };
}

async function readHeaders(
  { headers = {}, basic }: CredentialReferences,
  path: MemberPath,
  secrets: SecretReader,
): Promise<{ readonly [name: string]: string }> {
  const read = await Promise.all(
    Object.entries(headers).map(async ([name, value]): Promise<readonly [string, string]> => {
      const text = typeof value === "string" ? value : await secrets.secret(value, [...path, "headers", name]);
      if (text !== undefined && !/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(text))
        secrets.problems.add([...path, "headers", name], "contains characters that are not allowed in a header");
      return [name, text ?? ""];
    }),
  );
  const password = await secrets.secret(basic?.password, [...path, "basic", "password"]);
  const authorization =
    basic === undefined || password === undefined
      ? []
      : [["authorization", `Basic ${Buffer.from(`${basic.user}:${password}`).toString("base64")}`] as const];
  return Object.fromEntries([...read, ...authorization]);
}

async function readTls(
  references: CredentialReferences["tls"],
  path: MemberPath,
  secrets: SecretReader,
): Promise<Credentials["tls"] | undefined> {
  if (references === undefined) return undefined;
  const { ca, crl, cert, key } = references;
  if ((cert === undefined) !== (key === undefined)) secrets.problems.add(path, "requires both cert and key");
  const [authority, revoked, own, secret] = await Promise.all([
    secrets.file(ca, [...path, "ca"]),
    secrets.file(crl, [...path, "crl"]),
    secrets.file(cert, [...path, "cert"]),
    secrets.secretFile(key, [...path, "key"]),
  ]);
  if (authority !== undefined) checkCertificate(authority, [...path, "ca"], secrets);
  if (revoked !== undefined) checkCrl(revoked, [...path, "crl"], secrets);
  if (own !== undefined) checkCertificate(own, [...path, "cert"], secrets);
  return {
    ...(authority === undefined ? {} : { ca: authority }),
    ...(revoked === undefined ? {} : { crl: revoked }),
    ...(own === undefined || secret === undefined ? {} : { cert: own, key: secret }),
  };
}

/** Checked at start: later it would look like a connection problem. */
export function checkCertificate(pem: string, path: MemberPath, secrets: SecretReader): void {
  try {
    new X509Certificate(pem);
  } catch {
    secrets.problems.add(path, "references a file without a PEM certificate");
  }
}

export function checkCrl(pem: string, path: MemberPath, secrets: SecretReader): void {
  if (!pem.includes("-----BEGIN X509 CRL-----"))
    secrets.problems.add(path, "references a file without a PEM revocation list (X509 CRL)");
}

/** Reads which credential the upstreams of an agent receive. */
export async function readCallers(
  { callers, callersPath: path }: AgentConfig,
  secrets: SecretReader,
): Promise<UpstreamCredentials> {
  if (typeof callers === "string") return callers;
  const { clientId, clientSecret: reference, ...options } = callers.exchange;
  const clientSecret = await secrets.secret(reference, [...path, "exchange", "clientSecret"]);
  const client = clientId === undefined || clientSecret === undefined ? undefined : { clientId, clientSecret };
  return { exchange: { ...options, client } };
}

/** Reads the keys trusted to sign an agent's card. */
export async function readTrust({ trust, trustPath }: AgentConfig, secrets: SecretReader): Promise<CardTrust | undefined> {
  if (trust === undefined) return undefined;
  const { keys = [], jku = [], required } = trust;
  if (keys.length === 0 && jku.length === 0) secrets.problems.add(trustPath, "requires keys or jku");
  const read = await Promise.all(
    keys.map(async (file, index) => {
      const path = [...trustPath, "keys", index];
      const found = trustedKeys(await secrets.file(file, path), file);
      if (found === undefined) secrets.problems.add(path, `references ${file}, which is neither PEM nor JSON`);
      return found ?? [];
    }),
  );
  return { keys: read.flat(), trustedJku: jku, require: required };
}

/** Names each key by its `kid`, otherwise by its file. Undefined if the text is invalid JSON. */
function trustedKeys(text: string | undefined, file: string): readonly TrustedKey[] | undefined {
  if (text === undefined) return [];
  const name = basename(file);
  if (!text.trimStart().startsWith("{")) return [{ name, key: text }];
  const document = parsed(text);
  if (document === undefined) return undefined;
  const listed = isObject(document) && Array.isArray(document["keys"]) ? document["keys"] : [document];
  return listed
    .filter(isObject)
    .map((key) => ({ name: typeof key["kid"] === "string" ? key["kid"] : name, key: key as TrustedKey["key"] })); // validated on use
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
