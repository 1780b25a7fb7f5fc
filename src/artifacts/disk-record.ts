import { open, readFile, rename } from "node:fs/promises";
import { isObject, type Maybe } from "../envelope/index.js";
import type { ArtifactRecord } from "./backend.js";

/** Maximum size of a record; longer ones are not ours. */
const RECORD_BYTES = 64 * 1024;

/** Replaces the record in one step. */
export async function writeRecord(path: string, unfinished: string, record: ArtifactRecord): Promise<void> {
  const file = await open(unfinished, "w", 0o600);
  try {
    await file.writeFile(JSON.stringify(record));
    // Nothing is promised about content that is not complete.
    if (record.complete) await file.sync();
  } finally {
    await file.close();
  }
  await rename(unfinished, path);
}

/** A damaged record counts as missing. */
export async function readRecord(path: string, id: string): Promise<Maybe<ArtifactRecord>> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined || text.length > RECORD_BYTES) return undefined;
  try {
    return recordOf(JSON.parse(text), id);
  } catch {
    return undefined;
  }
}

function recordOf(value: unknown, id: string): Maybe<ArtifactRecord> {
  if (!isObject(value) || value["id"] !== id) return undefined;
  const { owner, mediaType, name, bytes, sha256, expiresAt, complete = true, tasks = [] } = value;
  if (typeof owner !== "string" || typeof complete !== "boolean") return undefined;
  const digest = typeof sha256 === "string" && /^[0-9a-f]{64}$/.test(sha256) ? sha256 : undefined;
  if (digest === undefined && (complete || sha256 !== undefined)) return undefined;
  if (typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes < 0) return undefined;
  if (typeof expiresAt !== "number" || !Number.isFinite(expiresAt)) return undefined;
  if (!Array.isArray(tasks) || !tasks.every((task) => typeof task === "string")) return undefined;
  const names = { mediaType: textOrNothing(mediaType), name: textOrNothing(name) };
  return { id, owner, bytes, sha256: digest, complete, expiresAt, tasks, ...names };
}

function textOrNothing(value: unknown): Maybe<string> {
  return typeof value === "string" ? value : undefined;
}
