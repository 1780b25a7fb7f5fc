import { open, readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { AgentError, type JsonObject } from "../../src/index.js";
import { type CardSigner, type CardSignerOptions, type CardTrust, cardSigner, type TrustedKey } from "../../src/public/auth.js";
import { CliError, EXIT, usageError } from "./exit.js";

/** Limit of a key, key set or card file. */
const FILE_BYTES = 1024 * 1024;
/** Readable by the owner only. */
const SECRET_MODE = 0o600;

/** A signer from a private key file, PEM or JWK. Errors never quote the file. */
export async function readCardKey(path: string, options: Omit<CardSignerOptions, "key"> = {}): Promise<CardSigner> {
  const key = await readSmallFile(path, "key file");
  try {
    return cardSigner({ ...options, key });
  } catch (thrown) {
    throw usageError(`${path}: ${AgentError.from(thrown).message}`, "`koine card key` makes a new key.");
  }
}

/** A warning about a private key that others can read. */
export async function cardKeyWarning(path: string): Promise<string | undefined> {
  const { mode } = await stat(path);
  return (mode & 0o044) === 0 ? undefined : `others on this machine can read ${path}: chmod 600 ${path}`;
}

export interface TrustOptions {
  readonly trust?: readonly string[];
  readonly trustJku?: readonly string[];
  readonly requireSigned?: boolean;
}

/** The trust options; undefined if none is given. */
export async function trustOf({ trust = [], trustJku = [], requireSigned }: TrustOptions): Promise<CardTrust | undefined> {
  if (trust.length === 0 && trustJku.length === 0 && requireSigned !== true) return undefined;
  if (trust.length === 0 && trustJku.length === 0)
    throw usageError("--require-signed needs a trusted key", "Name a key file with --trust, or a key set with --trust-jku.");
  const keys = await Promise.all(trust.map(readTrustedKeys));
  return { keys: keys.flat(), trustedJku: trustJku, require: requireSigned };
}

/** Public keys out of a file: PEM, JWK or JWKS. A key is named by its `kid`, or else by the file. */
async function readTrustedKeys(path: string): Promise<readonly TrustedKey[]> {
  const text = await readSmallFile(path, "trust file");
  if (!text.trimStart().startsWith("{")) return [{ name: basename(path), key: text }];
  const document = parseObject(text, path);
  const listed = document["keys"];
  const keys: readonly unknown[] = Array.isArray(listed) ? listed : [document];
  return keys.filter(isMembers).map((key) => ({ name: typeof key["kid"] === "string" ? key["kid"] : basename(path), key }));
}

/** A JSON object in a file. */
export function parseObject(text: string, path: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isMembers(value)) return value;
  } catch {
    // Reported below without the parser's message, which quotes the text.
  }
  throw usageError(`${path} has no JSON object in it`);
}

/** For results of JSON.parse only. */
function isMembers(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export async function readSmallFile(path: string, what: string): Promise<string> {
  const facts = await stat(path).catch((thrown: NodeJS.ErrnoException) => {
    throw usageError(`the ${what} ${path} cannot be read (${thrown.code ?? "unknown reason"})`);
  });
  if (!facts.isFile() || facts.size > FILE_BYTES) throw usageError(`${path} is not a ${what}`);
  return readFile(path, "utf8");
}

/** Writes a new file; never overwrites. */
export async function writeNewFile(path: string, text: string, secret: boolean): Promise<void> {
  // `wx` neither overwrites nor follows a link.
  const handle = await open(path, "wx", secret ? SECRET_MODE : 0o644).catch((thrown: NodeJS.ErrnoException) => {
    if (thrown.code === "EEXIST") throw new CliError(EXIT.failure, `${path} already exists and is not overwritten`);
    throw new CliError(EXIT.failure, `cannot write ${path} (${thrown.code ?? "unknown reason"})`);
  });
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}
