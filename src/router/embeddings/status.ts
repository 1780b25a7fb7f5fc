import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Maybe } from "../../envelope/index.js";
import { digestOf } from "./digest.js";
import { embeddingsDir, MARK } from "./install-folder.js";
import { MODEL_FILES, pinnedPackages } from "./packages.js";

/** What is there of the optional packages. */
export interface EmbeddingsStatus {
  readonly dir: string;
  /** `ready`: all of it is there and the model is the one it should be. */
  readonly state: "absent" | "damaged" | "ready";
  /** What is wrong with it; undefined unless it is damaged. */
  readonly problem: Maybe<string>;
  /** How much of the disk each part takes; empty unless the folder is ours. */
  readonly parts: readonly { readonly name: string; readonly version: string; readonly bytes: number }[];
}

/** Looks for the optional packages and checks the model's files against what they should be. Fetches nothing. */
export async function embeddingsStatus(options: { readonly dir?: Maybe<string> } = {}): Promise<EmbeddingsStatus> {
  const dir = embeddingsDir(options.dir);
  if (!(await exists(join(dir, MARK)))) return { dir, state: "absent", problem: undefined, parts: [] };
  const packages = pinnedPackages({ os: process.platform, arch: process.arch });
  const parts = await Promise.all(
    packages.map(async ({ name, version, into }) => ({ name, version, bytes: await bytesIn(join(dir, into)) })),
  );
  const problem = await problemIn(dir);
  return { dir, state: problem === undefined ? "ready" : "damaged", problem, parts };
}

/** What is wrong with the files of a folder that is ours. */
export async function problemIn(dir: string): Promise<Maybe<string>> {
  for (const { name, into } of pinnedPackages({ os: process.platform, arch: process.arch }))
    if (!(await exists(join(dir, into)))) return `${name} is missing`;
  for (const { path, sha256 } of MODEL_FILES) {
    const found = await digestOf(join(dir, path), "sha256", "hex").catch(() => undefined);
    if (found === undefined) return `${path} cannot be read`;
    if (found !== sha256) return `${path} is not the file it should be`;
  }
  return undefined;
}

/** Whether something of that name is there. */
export async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function bytesIn(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  const sizes = entries
    .filter((entry) => entry.isFile())
    .map(async (entry) => (await lstat(join(entry.parentPath, entry.name))).size);
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
