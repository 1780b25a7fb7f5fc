import { readFile } from "node:fs/promises";
import type { AdminOptions } from "../../src/index.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { problemOf } from "./problem.js";

/** The options of `addAdminOptions`. */
export interface AdminCommandOptions {
  readonly adminPort?: number;
  readonly adminHost?: string;
  readonly adminTokenFile?: string;
}

const TOKEN_CHARACTERS = 16;

/** The operator's listener; undefined if nothing asks for it. */
export async function readAdmin(options: AdminCommandOptions, wanted: boolean): Promise<AdminOptions | undefined> {
  const { adminPort: port, adminHost: host, adminTokenFile: file } = options;
  if (!wanted && port === undefined && host === undefined && file === undefined) return undefined;
  return { port, host, token: await readToken(file) };
}

async function readToken(file: string | undefined): Promise<string | undefined> {
  const token = file === undefined ? process.env["KOINE_ADMIN_TOKEN"] : await textOf(file);
  if (token === undefined || token === "") return undefined;
  if (token.length < TOKEN_CHARACTERS)
    throw usageError(`the admin token is too short: it needs at least ${TOKEN_CHARACTERS} characters`);
  return token;
}

async function textOf(file: string): Promise<string> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (thrown) {
    throw new CliError(EXIT.failure, `--admin-token-file: ${file} cannot be read: ${problemOf(thrown).message}`);
  }
}
