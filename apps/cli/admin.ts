import { readFile } from "node:fs/promises";
import type { AdminAddress, AdminOptions, TlsOptions } from "../../src/index.js";
import { isLoopbackHost } from "../../src/internal.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { problemOf } from "./problem.js";

/** The options of `addAdminOptions`. */
export interface AdminCommandOptions {
  readonly adminPort?: number;
  readonly adminHost?: string;
  readonly adminTokenFile?: string;
  readonly adminClearText?: boolean;
}

const TOKEN_CHARACTERS = 16;

/** The operator's listener; undefined if nothing asks for it. */
export async function readAdmin(
  options: AdminCommandOptions,
  { wanted, tls }: { readonly wanted: boolean; readonly tls: TlsOptions | undefined },
): Promise<AdminOptions | undefined> {
  const { adminPort: port, adminHost: host, adminTokenFile: file, adminClearText: clearText } = options;
  if (!wanted && port === undefined && host === undefined && file === undefined) return undefined;
  const token = await readToken(file);
  if (host === undefined || isLoopbackHost(host) || clearText === true) return { port, host, token, clearText };
  if (tls === undefined)
    throw usageError(
      `--admin-host ${host} needs TLS: without it the admin token can be read on the network`,
      "Give --tls-cert and --tls-key, or --admin-clear-text to allow it.",
    );
  return { port, host, token, tls };
}

/** The addresses of the operator's listener, with the token only if nobody else knows it. */
export function adminLine({ url, token, generated }: AdminAddress): string {
  return generated ? `${url}  token ${token}` : `${url}  token as configured`;
}

/** The address of the page, with the token only if nobody else knows it. */
export function pageAddress(pageUrl: string, admin: AdminAddress | undefined): string {
  return admin?.generated === false ? pageUrl.replace(/#.*$/, "") : pageUrl;
}

export function pageLine(pageUrl: string, admin: AdminAddress | undefined): string {
  return `${pageAddress(pageUrl, admin)}${admin?.generated === false ? "  token as configured" : ""}`;
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
