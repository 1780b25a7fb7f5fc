import type { Maybe } from "../../src/index.js";
import { keyFingerprint } from "../../src/public/identity.js";
import type { PreparedAgent } from "./prepare.js";

interface FingerprintParts {
  readonly publicUrl: Maybe<string>;
  readonly signsCards: boolean;
  readonly secret: Uint8Array;
}

/** What a supervisor depends on: if it is equal, a reload keeps the supervisor. Contains secrets: never log or store it. */
export function fingerprintOf(
  { config, credentials, identities, callers, trust }: PreparedAgent,
  { publicUrl, signsCards, secret }: FingerprintParts,
): string {
  const { path: _path, trustPath: _trustPath, callersPath: _callersPath, upstreams, ...rest } = config;
  const addresses = upstreams.map(
    ({ path: _at, credentialPath: _credentialsAt, identityPath: _identityAt, ...upstream }) => upstream,
  );
  return JSON.stringify([
    rest,
    addresses,
    credentials,
    identities.map((identity) => identity && [identity.did, identity.keys().map(keyFingerprint)]),
    callers,
    trust,
    publicUrl,
    signsCards,
    Buffer.from(secret).toString("base64"),
  ]);
}
