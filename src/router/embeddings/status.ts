import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Maybe } from "../../envelope/index.js";
import { digestOf } from "./digest.js";
import { embeddingsDir, MARK } from "./install-folder.js";
import { MODEL_FILES, pinnedPackages } from "./packages.js";

/** The installation state of the optional packages. */
export interface EmbeddingsStatus {
  readonly dir: string;
  /** `ready`: everything is installed and the model is verified. */
  readonly state: "absent" | "damaged" | "ready";
  /** The problem of a damaged installation; else undefined. */
  readonly problem: Maybe<string>;
  /** The disk usage of each part; empty unless installed. */
  readonly parts: readonly { readonly name: string; readonly version: string; readonly bytes: number }[];
}

/** Checks the installation and the digests of the model files. Downloads nothing. */
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

/** The first problem in the files of an installation. */
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

/** Whether the path exists. */
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
