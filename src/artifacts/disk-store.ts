import { createReadStream } from "node:fs";
import { mkdir, open, readdir, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import type { Maybe } from "../envelope/index.js";
import type { ArtifactBackend, ArtifactRecord, RecordChange } from "./backend.js";
import { changedRecord } from "./changed-record.js";
import { readRecord, writeRecord } from "./disk-record.js";
import { KeptArtifacts } from "./kept-artifacts.js";
import {
  type ArtifactLimits,
  type ArtifactStore,
  type ByteRange,
  DEFAULT_ARTIFACT_LIMITS,
  isArtifactId,
  type StoreOptions,
} from "./store.js";
import { Usage } from "./usage.js";

const CHUNK_BYTES = 256 * 1024;
const CONTENT = ".bin";
const RECORD = ".json";
const UNFINISHED = ".part";

/**
 * Artifacts in a folder: `{id}.bin` is the content and `{id}.json` the record. The content is flushed to disk before its record says
 * that it is complete, so a crash leaves an upload to be continued but never a partial artifact.
 */
export async function openDiskArtifacts(folder: string, options: StoreOptions): Promise<ArtifactStore> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const limits = { ...DEFAULT_ARTIFACT_LIMITS, ...options.limits };
  const backend = new DiskBackend(folder, limits);
  await backend.load(options.now());
  const store = new KeptArtifacts(backend, options, limits);
  await store.sweep();
  return store;
}

class DiskBackend implements ArtifactBackend {
  readonly durability: string;
  readonly #folder: string;
  readonly #limits: ArtifactLimits;
  readonly #usage: Usage;
  /** What this process counts. The files decide: another process may have changed them. */
  readonly #counted = new Map<string, ArtifactRecord>();
  /** The last change of each artifact that is being changed. */
  readonly #changing = new Map<string, Promise<unknown>>();

  constructor(folder: string, limits: ArtifactLimits) {
    this.#folder = folder;
    this.#limits = limits;
    this.#usage = new Usage(limits);
    this.durability = `in ${folder}`;
  }

  /** Loads the records of earlier processes and removes old files without one. */
  async load(now: number): Promise<void> {
    const names = new Set(await readdir(this.#folder));
    for (const name of names) {
      const id = name.slice(0, name.lastIndexOf("."));
      if (!isArtifactId(id)) continue;
      const record = name.endsWith(RECORD) ? await readRecord(join(this.#folder, name), id) : undefined;
      if (record !== undefined) this.#count(record);
      const isOrphan = name.endsWith(UNFINISHED) || (name.endsWith(CONTENT) && !names.has(id + RECORD));
      if (isOrphan) await this.#removeOrphan(join(this.#folder, name), now);
    }
  }

  create(record: ArtifactRecord): Promise<Maybe<ArtifactRecord>> {
    return this.#inTurn(record.id, async () => {
      const known = await this.get(record.id);
      if (known !== undefined) return known;
      this.#usage.check(record);
      this.#count(record);
      try {
        await (await open(this.#path(record.id, CONTENT), "w", 0o600)).close();
        await this.#write(record);
      } catch (thrown) {
        await this.#removeNow(record.id);
        throw thrown;
      }
      return undefined;
    });
  }

  async get(id: string): Promise<Maybe<ArtifactRecord>> {
    return readRecord(this.#path(id, RECORD), id);
  }

  async length(id: string): Promise<number> {
    return (await stat(this.#path(id, CONTENT)).catch(() => undefined))?.size ?? 0;
  }

  append(id: string, offset: number, piece: Uint8Array, grow: boolean): Promise<number> {
    return this.#inTurn(id, async () => {
      const length = await this.length(id);
      if (length !== offset) return length;
      const counted = this.#counted.get(id);
      if (grow && counted !== undefined) {
        this.#usage.checkGrowth(counted, piece.length);
        this.#count({ ...counted, bytes: counted.bytes + piece.length });
      }
      const file = await open(this.#path(id, CONTENT), "r+");
      try {
        await file.write(piece, 0, piece.length, offset);
      } finally {
        await file.close();
      }
      return offset + piece.length;
    });
  }

  change(id: string, change: RecordChange): Promise<Maybe<ArtifactRecord>> {
    return this.#inTurn(id, async () => {
      const stored = await this.get(id);
      // While it is written, only this process knows its size.
      const bytes = stored?.complete === false ? this.#counted.get(id)?.bytes : undefined;
      const changed = stored && changedRecord({ ...stored, bytes: bytes ?? stored.bytes }, change, this.#limits);
      if (changed === undefined) return undefined;
      if (change.sha256 !== undefined) await this.#flush(id);
      await this.#write(changed);
      this.#count(changed);
      return changed;
    });
  }

  async *read(id: string, { start, end }: ByteRange): AsyncIterable<Uint8Array> {
    // `end` is inclusive here.
    const bounds = { start, end: end - 1, highWaterMark: CHUNK_BYTES };
    yield* createReadStream(this.#path(id, CONTENT), bounds) as AsyncIterable<Uint8Array>; // no encoding, so buffers
  }

  remove(id: string): Promise<boolean> {
    return this.#inTurn(id, () => this.#removeNow(id));
  }

  async due(time: number, most: number): Promise<readonly ArtifactRecord[]> {
    const due: ArtifactRecord[] = [];
    for (const counted of [...this.#counted.values()]) {
      if (counted.expiresAt > time) continue;
      const stored = await this.get(counted.id);
      if (stored === undefined) this.#forget(counted.id);
      else if (stored.expiresAt > time) this.#count(stored);
      else if (due.push(stored) >= most) break;
    }
    return due;
  }

  /** One change of an artifact at a time. */
  #inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = this.#changing.get(id) ?? Promise.resolve();
    const result = before.then(work, work);
    const settled = result.then(
      () => undefined,
      () => undefined,
    );
    this.#changing.set(id, settled);
    void settled.then(() => {
      if (this.#changing.get(id) === settled) this.#changing.delete(id);
    });
    return result;
  }

  #write(record: ArtifactRecord): Promise<void> {
    return writeRecord(this.#path(record.id, RECORD), this.#path(record.id, UNFINISHED), record);
  }

  async #flush(id: string): Promise<void> {
    const file = await open(this.#path(id, CONTENT), "r+");
    try {
      await file.sync();
    } finally {
      await file.close();
    }
  }

  async #removeNow(id: string): Promise<boolean> {
    this.#forget(id);
    const existed = await unlinked(this.#path(id, RECORD)); // the record first: without it the artifact does not exist
    await unlinked(this.#path(id, UNFINISHED));
    await unlinked(this.#path(id, CONTENT));
    return existed;
  }

  #count(record: ArtifactRecord): void {
    this.#forget(record.id);
    this.#usage.add(record);
    this.#counted.set(record.id, record);
  }

  #forget(id: string): void {
    const counted = this.#counted.get(id);
    if (counted !== undefined) this.#usage.remove(counted);
    this.#counted.delete(id);
  }

  #path(id: string, end: string): string {
    return join(this.#folder, id + end);
  }

  /** Only if it is old: another process may be writing it. */
  async #removeOrphan(path: string, now: number): Promise<void> {
    const found = await stat(path).catch(() => undefined);
    if (found !== undefined && now - found.mtimeMs > this.#limits.keepMs) await unlinked(path);
  }
}

/** True if the file existed. */
async function unlinked(path: string): Promise<boolean> {
  return unlink(path).then(
    () => true,
    () => false,
  );
}
