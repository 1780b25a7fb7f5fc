import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { open, readdir } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { packageFile } from "../../src/transport/node/package-file.js";
import { AgentError } from "./router.js";

/** An input file. Only its base name is kept: the path depends on the machine. */
export interface InputFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  readonly text: string;
  /** The commit of version control that has it; null if it is in none, or was changed since. */
  readonly commit: string | null;
}

const MAX_INPUT_BYTES = 16 * 1024 * 1024;
const MAX_INPUT_FILES = 64;

export function sha256(data: string | Uint8Array): string {
  return createHash("sha256").update(data).digest("hex");
}

/** The text of a file; throws an AgentError with the reason. */
export async function readInput(path: string, maxBytes = MAX_INPUT_BYTES): Promise<InputFile> {
  const data = await readBytes(path, maxBytes);
  const name = basename(path);
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(data);
    return { name, bytes: data.byteLength, sha256: sha256(data), text, commit: null };
  } catch {
    throw new AgentError("invalid_message", `${name} is not UTF-8 text`);
  }
}

async function readBytes(path: string, maxBytes: number): Promise<Uint8Array> {
  const file = await open(path).catch((thrown: NodeJS.ErrnoException) => {
    throw new AgentError("not_found", `the file ${path} cannot be read (${thrown.code ?? "unknown reason"})`);
  });
  try {
    const facts = await file.stat();
    if (!facts.isFile()) throw new AgentError("not_found", `${path} is not a file`);
    if (facts.size > maxBytes)
      throw new AgentError("too_large", `${path} has ${facts.size} bytes, and at most ${maxBytes} are read`);
    return await file.readFile();
  } finally {
    await file.close();
  }
}

/** Several files, distinguished by their base names. */
export async function readInputs(paths: readonly string[]): Promise<readonly InputFile[]> {
  if (paths.length > MAX_INPUT_FILES)
    throw new AgentError("too_large", `there are ${paths.length} files, and at most ${MAX_INPUT_FILES} are read`);
  const twice = paths.map((path) => basename(path)).find((name, index, names) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new AgentError("invalid_message", `two files are called ${twice}, and results go by that name`);
  const inputs: InputFile[] = [];
  for (const path of paths) inputs.push({ ...(await readInput(path)), commit: await commitOf(path) });
  return inputs;
}

const git = promisify(execFile);
const GIT_MS = 5_000;

/** By Git, where it is installed and knows the file as it is. */
async function commitOf(path: string): Promise<string | null> {
  const run = async (...args: string[]): Promise<string> =>
    (await git("git", ["-C", dirname(resolve(path)), ...args, "--", basename(path)], { timeout: GIT_MS })).stdout.trim();
  try {
    const changed = await run("status", "--porcelain");
    const commit = await run("log", "-1", "--format=%H");
    return changed === "" && /^[0-9a-f]{40,64}$/.test(commit) ? commit : null;
  } catch {
    return null;
  }
}

/** The scenarios that the package ships. */
export async function ownCorpus(folder = fileURLToPath(packageFile("bench/routerbench/corpus/"))): Promise<readonly string[]> {
  const names = await readdir(folder).catch((): string[] => []);
  return names
    .filter((name) => name.endsWith(".jsonl"))
    .sort()
    .map((name) => join(folder, name));
}
