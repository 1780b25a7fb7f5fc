import type { Credentials } from "../../src/index.js";
import { usageError } from "./exit.js";

export interface CredentialOptions {
  /** The name of the environment variable that holds the token. */
  readonly tokenEnv?: string;
  readonly header?: readonly string[];
}

/** RFC 9110 §5.6.2. */
const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** What is shown to the peer. A token comes from the environment only: command lines are seen by everybody on the machine. */
export function credentialsOf({ tokenEnv, header = [] }: CredentialOptions, env: NodeJS.ProcessEnv = process.env): Credentials {
  const headers = Object.fromEntries(header.map(readHeader));
  const said = Object.keys(headers).some((name) => name.toLowerCase() === "authorization");
  const bearer = tokenEnv === undefined ? env["KOINE_TOKEN"]?.trim() : tokenOf(tokenEnv, env);
  return { headers, ...(bearer === undefined || bearer === "" || said ? {} : { bearer }) };
}

function tokenOf(name: string, env: NodeJS.ProcessEnv): string {
  const token = env[name]?.trim();
  if (token === undefined || token === "")
    throw usageError(`--token-env names ${name}, and that variable is not set`, `Set it: export ${name}=…`);
  return token;
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
