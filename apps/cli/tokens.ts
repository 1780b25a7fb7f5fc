import { readFile, stat } from "node:fs/promises";
import { AgentError } from "../../src/index.js";
import { type Admission, bearerTokens, openAdmission, parseTokens } from "../../src/public/auth.js";
import { usageError } from "./exit.js";

/** Who may call, in the words of the start-up text. */
export interface CallerAdmission {
  readonly admission: Admission;
  readonly words: string;
  readonly warning: string | undefined;
}

const SECRET_FILE_BYTES = 1024 * 1024;

/** Tokens come from a file or from KOINE_TOKENS, never from the command line. */
export async function readAdmission(
  tokenFile: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): Promise<CallerAdmission> {
  const text = tokenFile === undefined ? env["KOINE_TOKENS"] : await readSecretFile(tokenFile, "token");
  if (text === undefined || (tokenFile === undefined && text.trim() === ""))
    return { admission: openAdmission(), words: "everybody who reaches this address", warning: undefined };
  const tokens = readTokens(text, tokenFile ?? "KOINE_TOKENS");
  const warning = tokenFile === undefined ? undefined : await secretFileWarning(tokenFile);
  return { admission: bearerTokens(tokens), words: `holders of a token: ${[...tokens.keys()].join(", ")}`, warning };
}

/** The errors of `parseTokens` name entries by number and show none of them. */
function readTokens(text: string, source: string): ReadonlyMap<string, string> {
  try {
    return parseTokens(text);
  } catch (thrown) {
    throw usageError(
      `${source}: ${AgentError.from(thrown).message}`,
      "It has one name=token per line; a token has 16 characters or more.",
    );
  }
}

/** A file with one name=secret per line. */
export async function readSecretFile(path: string, word: "token" | "key"): Promise<string> {
  const facts = await stat(path).catch((thrown: NodeJS.ErrnoException) => {
    throw usageError(`the ${word} file ${path} cannot be read (${thrown.code ?? "unknown reason"})`);
  });
  if (!facts.isFile() || facts.size > SECRET_FILE_BYTES) throw usageError(`${path} is not a file with ${word}s`);
  return readFile(path, "utf8").catch((thrown: NodeJS.ErrnoException) => {
    throw usageError(`the ${word} file ${path} cannot be read (${thrown.code ?? "unknown reason"})`);
  });
}

/** What to say about a file with secrets that others can read. */
export async function secretFileWarning(path: string): Promise<string | undefined> {
  const { mode } = await stat(path);
  return (mode & 0o004) === 0 ? undefined : `everybody on this machine can read ${path}: chmod 600 ${path}`;
}
