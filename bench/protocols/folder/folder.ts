import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { z } from "zod";
import { type BenchResult, MANIFEST, type Manifest, RESULT, resultJsonSchema } from "../result/index.js";
import { otherVersion } from "./version.js";

/** The files of a result folder. */
export const FILES = {
  events: "events.ndjson",
  manifest: "manifest.json",
  result: "result.json",
  schema: "result.schema.json",
  report: "report.html",
  tables: "report.md",
  priors: "priors.json",
  judgements: "judgements.json",
} as const;

/** Where private keys are while runs with identities last. */
export const IDENTITIES = "identities";

/** Where agents keep what survives their process, while a run lasts. */
export const STATE = "state";

/** Removes the private keys and the state of runs; a killed benchmark leaves those of its last one. */
export function removeIdentities(folder: string): void {
  for (const each of [IDENTITIES, STATE]) rmSync(join(folder, each), { recursive: true, force: true });
}

/** An error that the user can mend: a wrong folder, a damaged file. */
export class FolderError extends Error {}

/** Makes the folder. Refuses one that is not empty, unless `force`: an earlier result in it is then removed. */
export function prepareFolder(folder: string, force: boolean): void {
  let names: readonly string[];
  try {
    mkdirSync(folder, { recursive: true });
    names = readdirSync(folder);
  } catch (thrown) {
    throw new FolderError(`${folder} cannot be used as a folder: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
  }
  if (names.length > 0 && !force) throw new FolderError(`${folder} is not empty; choose another folder, --force or --resume`);
  for (const file of Object.values(FILES)) rmSync(join(folder, file), { force: true });
  removeIdentities(folder);
}

export function writeJson(
  folder: string,
  file: (typeof FILES)["manifest" | "result" | "schema" | "priors" | "judgements"],
  value: object,
): void {
  writeText(folder, file, `${JSON.stringify(value, undefined, 2)}\n`);
}

/** Replaced as a whole: a reader never sees half of one. */
export function writeText(folder: string, file: (typeof FILES)[keyof typeof FILES], text: string): void {
  const path = join(folder, file);
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

export function writeResult(folder: string, result: BenchResult): void {
  writeJson(folder, FILES.result, result);
}

export function writeSchema(folder: string): void {
  writeJson(folder, FILES.schema, resultJsonSchema());
}

export function readResult(folder: string): BenchResult {
  return readFile(folder, FILES.result, RESULT);
}

export function readManifest(folder: string): Manifest {
  return readFile(folder, FILES.manifest, MANIFEST);
}

/** A file of a folder, checked. */
export function readFile<T>(folder: string, file: string, schema: z.ZodType<T>): T {
  const path = join(folder, file);
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (thrown) {
    const missing = thrown instanceof Error && "code" in thrown && thrown.code === "ENOENT";
    throw new FolderError(missing ? `${path} does not exist: ${folder} is no result of a benchmark` : `${path} is not JSON`);
  }
  const old = otherVersion(value);
  if (old !== undefined) throw new FolderError(`${path} ${old}`);
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new FolderError(`${path}: ${issue?.path.join(".")}: ${issue?.message}`);
}

/** Size and digest of the events, for the manifest. */
export function digestEvents(folder: string, lines: number): NonNullable<Manifest["events"]> {
  const bytes = readFileSync(join(folder, FILES.events));
  return { lines, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") };
}
