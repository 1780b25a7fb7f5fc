import { X509Certificate } from "node:crypto";
import { basename } from "node:path";
import type { ClientCredentials, Credentials, UpstreamCredentials } from "../../src/index.js";
import type { CardTrust, TrustedKey } from "../../src/public/auth.js";
import type { MemberPath } from "../config/index.js";
import type { AgentConfig, UpstreamConfig } from "./config.js";
import type { CredentialPlaces } from "./config-schema.js";
import type { Materials } from "./secrets.js";

/** What the gateway shows to one upstream, read where it is. */
export async function readCredentials(
  { credentials: places, credentialPath: path }: UpstreamConfig,
  materials: Materials,
): Promise<Credentials> {
  const [bearer, apiKey, oauth2, headers, tls] = await Promise.all([
    materials.secret(places.bearer, [...path, "bearer"]),
    materials.secret(places.apiKey, [...path, "apiKey"]),
    readClient(places.oauth2, [...path, "oauth2"], materials),
    readHeaders(places, path, materials),
    readTls(places.tls, [...path, "tls"], materials),
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
  places: CredentialPlaces["oauth2"],
  path: MemberPath,
  materials: Materials,
): Promise<ClientCredentials | undefined> {
  const clientSecret = await materials.secret(places?.clientSecret, [...path, "clientSecret"]);
  if (places === undefined || clientSecret === undefined) return undefined;
  const { clientId, tokenUrl, scopes } = places;
  return { clientId, clientSecret, ...(tokenUrl === undefined ? {} : { tokenUrl }), ...(scopes === undefined ? {} : { scopes }) };
}

async function readHeaders(
  { headers = {}, basic }: CredentialPlaces,
  path: MemberPath,
  materials: Materials,
): Promise<{ readonly [name: string]: string }> {
  const read = await Promise.all(
    Object.entries(headers).map(async ([name, value]): Promise<readonly [string, string]> => {
      const text = typeof value === "string" ? value : await materials.secret(value, [...path, "headers", name]);
      if (text !== undefined && !/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(text))
        materials.complaints.add([...path, "headers", name], "holds what cannot stand in a header");
      return [name, text ?? ""];
    }),
  );
  const password = await materials.secret(basic?.password, [...path, "basic", "password"]);
  const shown =
    basic === undefined || password === undefined
      ? []
      : [["authorization", `Basic ${Buffer.from(`${basic.user}:${password}`).toString("base64")}`] as const];
  return Object.fromEntries([...read, ...shown]);
}

async function readTls(
  places: CredentialPlaces["tls"],
  path: MemberPath,
  materials: Materials,
): Promise<Credentials["tls"] | undefined> {
  if (places === undefined) return undefined;
  const { ca, cert, key } = places;
  if ((cert === undefined) !== (key === undefined))
    materials.complaints.add(path, "has one of cert and key, and they belong together");
  const [authority, own, secret] = await Promise.all([
    materials.file(ca, [...path, "ca"]),
    materials.file(cert, [...path, "cert"]),
    materials.secretFile(key, [...path, "key"]),
  ]);
  if (authority !== undefined) checkCertificate(authority, [...path, "ca"], materials);
  if (own !== undefined) checkCertificate(own, [...path, "cert"], materials);
  return {
    ...(authority === undefined ? {} : { ca: authority }),
    ...(own === undefined || secret === undefined ? {} : { cert: own, key: secret }),
  };
}

/** Later it would look like a problem of the connection. */
export function checkCertificate(pem: string, path: MemberPath, materials: Materials): void {
  try {
    new X509Certificate(pem);
  } catch {
    materials.complaints.add(path, "names a file that holds no certificate (PEM)");
  }
}

/** Whose credential the upstreams of an agent see. */
export async function readCallers(
  { callers, callersPath: path }: AgentConfig,
  materials: Materials,
): Promise<UpstreamCredentials> {
  if (typeof callers === "string") return callers;
  const { clientId, clientSecret: place, ...options } = callers.exchange;
  const clientSecret = await materials.secret(place, [...path, "exchange", "clientSecret"]);
  const client = clientId === undefined || clientSecret === undefined ? undefined : { clientId, clientSecret };
  return { exchange: { ...options, client } };
}

/** Whose signatures on the card of an agent count. */
export async function readTrust({ trust, trustPath }: AgentConfig, materials: Materials): Promise<CardTrust | undefined> {
  if (trust === undefined) return undefined;
  const { keys = [], jku = [], required } = trust;
  if (keys.length === 0 && jku.length === 0) materials.complaints.add(trustPath, "names nobody to trust: give keys or jku");
  const read = await Promise.all(
    keys.map(async (file, index) => {
      const path = [...trustPath, "keys", index];
      const found = trustedKeys(await materials.file(file, path), file);
      if (found === undefined) materials.complaints.add(path, `names ${file}, which is neither PEM nor JSON`);
      return found ?? [];
    }),
  );
  return { keys: read.flat(), trustedJku: jku, require: required };
}

/** A key is called by its `kid`, or else as the file is. Undefined where the text is no JSON. */
function trustedKeys(text: string | undefined, file: string): readonly TrustedKey[] | undefined {
  if (text === undefined) return [];
  const name = basename(file);
  if (!text.trimStart().startsWith("{")) return [{ name, key: text }];
  const document = parsed(text);
  if (document === undefined) return undefined;
  const listed = isObject(document) && Array.isArray(document["keys"]) ? document["keys"] : [document];
  return listed
    .filter(isObject)
    .map((key) => ({ name: typeof key["kid"] === "string" ? key["kid"] : name, key: key as TrustedKey["key"] })); // checked where it is used
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
