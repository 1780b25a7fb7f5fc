import { readFile } from "node:fs/promises";
import type { Command } from "commander";
import type { ClientCredentials, Credentials } from "../src/index.js";
import { usageError } from "./exit.js";
import { collect } from "./option-values.js";

/** What is shown to the peer, beside a bearer token and headers. Secrets come from the environment or from files only. */
export interface IdentityCredentialOptions {
  readonly apiKeyEnv?: string;
  readonly clientId?: string;
  readonly clientSecretEnv?: string;
  readonly tokenUrl?: string;
  readonly scope?: readonly string[];
  readonly ca?: string;
  readonly cert?: string;
  readonly key?: string;
}

export function addIdentityCredentialOptions(command: Command): Command {
  return command
    .option("--api-key-env <name>", "the environment variable with the API key (default: KOINE_API_KEY, if it is set)")
    .option("--client-id <id>", "who we are to the token endpoint (OAuth 2 client credentials)")
    .option("--client-secret-env <name>", "the environment variable with the client secret (default: KOINE_CLIENT_SECRET)")
    .option("--token-url <url>", "where tokens are given out; without it only the agent's own origin is believed")
    .option("--scope <scope>", "a scope to ask for instead of those the card names; may be given several times", collect)
    .option("--ca <file>", "a certificate authority to believe, for agents with certificates of a private one")
    .option("--cert <file>", "our own certificate")
    .option("--key <file>", "the private key of our certificate");
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
      throw usageError("a token is asked for by somebody", "Give --client-id too.");
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

function secretOf(option: string, named: string | undefined, usual: string, env: NodeJS.ProcessEnv): string | undefined {
  const secret = env[named ?? usual]?.trim();
  if (secret !== undefined && secret !== "") return secret;
  if (named === undefined) return undefined;
  throw usageError(`${option} names ${named}, and that variable is not set`, `Set it: export ${named}=…`);
}

async function tlsOf({ ca, cert, key }: IdentityCredentialOptions): Promise<Credentials["tls"]> {
  if ((cert === undefined) !== (key === undefined))
    throw usageError("a certificate and its key belong together", "Give both --cert and --key.");
  if (ca === undefined && cert === undefined) return undefined;
  const read = async (path: string, option: string): Promise<string> =>
    readFile(path, "utf8").catch((thrown: NodeJS.ErrnoException) => {
      throw usageError(`${option}: ${path} cannot be read (${thrown.code ?? "unknown reason"})`);
    });
  return {
    ...(ca === undefined ? {} : { ca: await read(ca, "--ca") }),
    ...(cert === undefined || key === undefined ? {} : { cert: await read(cert, "--cert"), key: await read(key, "--key") }),
  };
}
