import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { AgentError, type Credentials } from "../../src/index.js";
import type { CredentialPlaces, SecretPlace } from "./plan-schema.js";

/** What is longer is no token. */
const SECRET_CHARACTERS = 64 * 1024;

export interface SecretSource {
  readonly env: NodeJS.ProcessEnv;
  /** Where relative names of files begin. */
  readonly folder: string;
}

/** The credentials that a plan names, read where they are. No error repeats what was found there. */
export async function readCredentials(places: CredentialPlaces | undefined, source: SecretSource): Promise<Credentials> {
  const [bearer, apiKey] = await Promise.all([readSecret(places?.bearer, source), readSecret(places?.apiKey, source)]);
  return { ...(bearer === undefined ? {} : { bearer }), ...(apiKey === undefined ? {} : { apiKey }) };
}

async function readSecret(place: SecretPlace | undefined, { env, folder }: SecretSource): Promise<string | undefined> {
  if (place === undefined) return undefined;
  const name = "env" in place ? place.env : place.file;
  const found = "env" in place ? env[place.env] : await readFile(resolve(folder, place.file), "utf8").catch(() => undefined);
  const secret = found?.trim();
  if (secret === undefined || secret === "" || secret.length > SECRET_CHARACTERS)
    throw new AgentError("unauthenticated", `the plan names ${name} as a secret, and there is none in it`, {
      field: "credentials",
    });
  return secret;
}

/** The environment variables that hold secrets of these modules. */
export function secretVariables(all: readonly (CredentialPlaces | undefined)[]): readonly string[] {
  return all.flatMap((places) =>
    [places?.bearer, places?.apiKey].flatMap((place) => (place !== undefined && "env" in place ? [place.env] : [])),
  );
}
