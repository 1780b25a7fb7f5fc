import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, open, readdir, readFile, rename, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { AgentError, isObject, type Maybe } from "../envelope/index.js";
import { createQuota, type Quota, type Reservation } from "./quota.js";
import {
  type ArtifactContent,
  type ArtifactFacts,
  type ArtifactInfo,
  type ArtifactLimits,
  type ArtifactStore,
  type ByteRange,
  DEFAULT_ARTIFACT_LIMITS,
  isArtifactId,
  type StoreOptions,
} from "./store.js";

const CHUNK_BYTES = 256 * 1024;
/** Maximum size of a record; longer ones are not ours. */
const RECORD_BYTES = 64 * 1024;
const CONTENT = ".bin";
const RECORD = ".json";
const UNFINISHED = ".part";

interface StoredArtifact {
  readonly info: ArtifactInfo;
  readonly reservation: Reservation;
}

/**
 * Artifacts in a folder: `{id}.bin` is the content and `{id}.json` the record. The content is flushed to disk before its record
 * appears, and only a record makes an artifact, so a crash leaves orphaned files but never a partial artifact.
 */
export async function openDiskArtifacts(folder: string, options: StoreOptions): Promise<ArtifactStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const store = new DiskArtifacts(folder, options);
  await store.load();
  return store;
}

class DiskArtifacts implements ArtifactStore {
  readonly #folder: string;
  readonly #options: StoreOptions;
  readonly #limits: ArtifactLimits;
  readonly #quota: Quota;
  /** Ordered by expiry, because all are kept for the same time. */
  readonly #stored = new Map<string, StoredArtifact>();

  constructor(folder: string, options: StoreOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#limits = { ...DEFAULT_ARTIFACT_LIMITS, ...options.limits };
    this.#quota = createQuota(this.#limits);
  }

  /** Loads the records of earlier processes and removes old files without one. */
  async load(): Promise<void> {
    const names = new Set(await readdir(this.#folder));
    const found: ArtifactInfo[] = [];
    for (const name of names) {
      const id = name.slice(0, name.lastIndexOf("."));
      if (!isArtifactId(id)) continue;
      const info = name.endsWith(RECORD) ? await readRecord(join(this.#folder, name), id) : undefined;
      if (info !== undefined) found.push(info);
      const orphans = name.endsWith(UNFINISHED) || (name.endsWith(CONTENT) && !names.has(id + RECORD));
      if (orphans) await this.#removeOrphan(join(this.#folder, name));
    }
    found.sort((a, b) => a.expiresAt - b.expiresAt);
    for (const info of found) this.#stored.set(info.id, { info, reservation: this.#quota.adopt(info.owner, info.bytes) });
    await this.sweep();
  }

  async put(content: ArtifactContent, { owner, mediaType, name }: ArtifactFacts): Promise<ArtifactInfo> {
    await this.sweep();
    const id = this.#options.newId();
    if (!isArtifactId(id) || this.#stored.has(id))
      throw new AgentError("internal", "the new artifact id is invalid or already used");
    const reservation = this.#quota.reserve(owner);
    const unfinished = this.#path(id, UNFINISHED);
    try {
      const { bytes, sha256 } = await writeContent(unfinished, content, reservation);
      await rename(unfinished, this.#path(id, CONTENT));
      const info = { id, owner, mediaType, name, bytes, sha256, expiresAt: this.#options.now() + this.#limits.keepMs };
      await writeDurably(unfinished, JSON.stringify(info));
      await rename(unfinished, this.#path(id, RECORD));
      this.#stored.set(id, { info, reservation });
      return info;
    } catch (thrown) {
      reservation.free();
      await unlinked(unfinished);
      await unlinked(this.#path(id, CONTENT));
      throw thrown;
    }
  }

  async find(id: string): Promise<Maybe<ArtifactInfo>> {
    if (!isArtifactId(id)) return undefined;
    // Another process on the same folder may have stored it.
    const info = this.#stored.get(id)?.info ?? (await readRecord(this.#path(id, RECORD), id));
    return info !== undefined && info.expiresAt > this.#options.now() ? info : undefined;
  }

  async *read(info: ArtifactInfo, range: ByteRange = { start: 0, end: info.bytes }): AsyncIterable<Uint8Array> {
    if (!isArtifactId(info.id)) throw new AgentError("not_found", "the artifact no longer exists");
    if (range.end <= range.start) return;
    // `end` is inclusive here.
    const bounds = { start: range.start, end: range.end - 1, highWaterMark: CHUNK_BYTES };
    yield* createReadStream(this.#path(info.id, CONTENT), bounds) as AsyncIterable<Uint8Array>; // no encoding, so buffers
  }

  async delete(id: string): Promise<boolean> {
    if (!isArtifactId(id)) return false;
    this.#stored.get(id)?.reservation.free();
    this.#stored.delete(id);
    const existed = await unlinked(this.#path(id, RECORD)); // the record first: without it the artifact does not exist
    await unlinked(this.#path(id, CONTENT));
    return existed;
  }

  async sweep(): Promise<number> {
    const now = this.#options.now();
    let removed = 0;
    for (const [id, { info }] of this.#stored) {
      if (info.expiresAt > now) break;
      await this.delete(id);
      removed++;
    }
    return removed;
  }

  #path(id: string, end: string): string {
    return join(this.#folder, id + end);
  }

  /** Only if it is old: another process may be writing it. */
  async #removeOrphan(path: string): Promise<void> {
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && this.#options.now() - found.mtimeMs > this.#limits.keepMs) await unlinked(path);
  }
}

async function writeContent(
  path: string,
  content: ArtifactContent,
  reservation: Reservation,
): Promise<{ readonly bytes: number; readonly sha256: string }> {
  const hash = createHash("sha256");
  let bytes = 0;
  const file = await open(path, "wx", 0o600);
  try {
    for await (const piece of content instanceof Uint8Array ? [content] : content) {
      reservation.grow(piece.length);
      bytes += piece.length;
      hash.update(piece);
      await file.appendFile(piece);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { bytes, sha256: hash.digest("hex") };
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function readRecord(path: string, id: string): Promise<Maybe<ArtifactInfo>> {
  const text = await readFile(path, "utf8").catch(() => undefined);
  if (text === undefined || text.length > RECORD_BYTES) return undefined;
  try {
    return recordOf(JSON.parse(text), id);
  } catch {
    return undefined;
  }
}

/** A damaged record counts as missing. */
function recordOf(value: unknown, id: string): Maybe<ArtifactInfo> {
  if (!isObject(value) || value["id"] !== id) return undefined;
  const { owner, mediaType, name, bytes, sha256, expiresAt } = value;
  if (typeof owner !== "string" || typeof sha256 !== "string" || !/^[0-9a-f]{64}$/.test(sha256)) return undefined;
  if (typeof bytes !== "number" || !Number.isSafeInteger(bytes) || bytes < 0) return undefined;
  if (typeof expiresAt !== "number" || !Number.isFinite(expiresAt)) return undefined;
  return { id, owner, bytes, sha256, expiresAt, mediaType: textOrNothing(mediaType), name: textOrNothing(name) };
}

function textOrNothing(value: unknown): Maybe<string> {
  return typeof value === "string" ? value : undefined;
}

/** True if the file existed. */
async function unlinked(path: string): Promise<boolean> {
  return unlink(path).then(
    () => true,
    () => false,
  );
}
