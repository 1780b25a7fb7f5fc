import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { AgentError, type Credentials } from "../../src/index.js";
import type { CredentialReferences, SecretReference } from "./plan-schema.js";

/** Size limit of a secret. */
const SECRET_CHARACTERS = 64 * 1024;

export interface SecretSource {
  readonly env: NodeJS.ProcessEnv;
  /** Base directory of relative file names. */
  readonly folder: string;
}

/** Reads the credentials that a plan references. Errors never quote a secret. */
export async function readCredentials(references: CredentialReferences | undefined, source: SecretSource): Promise<Credentials> {
  const [bearer, apiKey] = await Promise.all([readSecret(references?.bearer, source), readSecret(references?.apiKey, source)]);
  return { ...(bearer === undefined ? {} : { bearer }), ...(apiKey === undefined ? {} : { apiKey }) };
}

async function readSecret(reference: SecretReference | undefined, { env, folder }: SecretSource): Promise<string | undefined> {
  if (reference === undefined) return undefined;
  const name = "env" in reference ? reference.env : reference.file;
  const found =
    "env" in reference ? env[reference.env] : await readFile(resolve(folder, reference.file), "utf8").catch(() => undefined);
  const secret = found?.trim();
  if (secret === undefined || secret === "" || secret.length > SECRET_CHARACTERS)
    throw new AgentError("unauthenticated", `secret ${name} of the plan is missing or empty`, {
      field: "credentials",
    });
  return secret;
}

/** The environment variables that hold secrets of these modules. */
export function secretVariables(all: readonly (CredentialReferences | undefined)[]): readonly string[] {
  return all.flatMap((references) =>
    [references?.bearer, references?.apiKey].flatMap((reference) =>
      reference !== undefined && "env" in reference ? [reference.env] : [],
    ),
  );
}
