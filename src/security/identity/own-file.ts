import { randomBytes } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { AgentError } from "../../envelope/index.js";

/** Files that only their owner may read and write: identities, and what belongs to them. */

export const FILE_MODE = 0o600;
export const FOLDER_MODE = 0o700;
const OTHERS = 0o077;

/** What a file holds, for messages. */
export interface OwnFileKind {
  /** As in "name an identity file". */
  readonly what: string;
  /** How one is made. */
  readonly made: string;
  readonly bytes: number;
}

/** Writes the whole file next to its place, so that it can be put there in one step. */
export async function writeBeside(path: string, content: object, place: (written: string) => Promise<void>): Promise<void> {
  const written = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString("hex")}`);
  try {
    const handle = await open(written, "wx", FILE_MODE);
    try {
      await handle.writeFile(`${JSON.stringify(content, undefined, 2)}\n`);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await place(written);
  } catch (thrown) {
    await rm(written, { force: true });
    throw thrown;
  }
}

/** What is checked is what is read: the checks are made on the open file. A pipe does not block. */
export async function readOwnFile(path: string, kind: OwnFileKind): Promise<Buffer> {
  const linked = await lstat(path).catch((thrown: unknown) => {
    throw codeOf(thrown) === "ENOENT"
      ? fileRefused(path, "does not exist", kind.made)
      : fileRefused(path, `cannot be read (${codeOf(thrown)})`, "run as the user who created it");
  });
  if (linked.isSymbolicLink()) throw fileRefused(path, "is a symbolic link", "name the file itself");
  await checkFolder(dirname(path));
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle: FileHandle = await open(path, flags).catch((thrown: unknown) => {
    throw fileRefused(path, `cannot be read (${codeOf(thrown)})`, "run as the user who created it");
  });
  try {
    const facts = await handle.stat();
    if (!facts.isFile()) throw fileRefused(path, "is not a file", `name ${kind.what}`);
    checkOwner(path, facts, "file", FILE_MODE);
    if (facts.size > kind.bytes)
      throw fileRefused(path, `has ${facts.size} bytes; the limit is ${kind.bytes}`, `name ${kind.what}`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

export async function checkFolder(folder: string): Promise<void> {
  checkOwner(folder, await stat(folder), "folder", FOLDER_MODE);
}

/** Who can write the folder can replace the file. Windows has no such bits. */
function checkOwner(path: string, { mode, uid }: Stats, what: "file" | "folder", wanted: number): void {
  const user = process.getuid?.();
  if (user === undefined) return;
  if (uid !== user) throw fileRefused(path, `is a ${what} of another user`, `use a ${what} of your own`);
  if ((mode & OTHERS) === 0) return;
  const verb = what === "file" ? "can be read or changed by other users" : "can be opened by other users";
  throw fileRefused(path, `is a ${what} that ${verb}`, `run: chmod ${wanted.toString(8)} ${path}`);
}

export function fileRefused(path: string, problem: string, advice: string): AgentError {
  return new AgentError("invalid_message", `${path} ${problem}; ${advice}`, { field: "identity", sent: "no" });
}

export function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown error";
}
