import { AgentError, type Maybe } from "../envelope/index.js";
import type { ArtifactBackend, ArtifactRecord, RecordChange } from "./backend.js";
import { changedRecord } from "./changed-record.js";
import { KeptArtifacts } from "./kept-artifacts.js";
import { type ArtifactLimits, type ArtifactStore, type ByteRange, DEFAULT_ARTIFACT_LIMITS, type StoreOptions } from "./store.js";
import { Usage } from "./usage.js";

const MIB = 1024 * 1024;
/** Lower than the disk defaults. */
const MEMORY_LIMITS = { artifactBytes: 64 * MIB, bytesPerOwner: 256 * MIB, totalBytes: 256 * MIB };
const CHUNK_BYTES = 256 * 1024;

/** An artifact store that lives as long as the process. */
export function createMemoryArtifacts(options: StoreOptions): ArtifactStore {
  const limits = { ...DEFAULT_ARTIFACT_LIMITS, ...MEMORY_LIMITS, ...options.limits };
  return new KeptArtifacts(new MemoryBackend(limits), options, limits);
}

interface Stored {
  record: ArtifactRecord;
  readonly pieces: Uint8Array[];
  length: number;
}

class MemoryBackend implements ArtifactBackend {
  readonly durability = "in memory: lost when this process ends";
  readonly #stored = new Map<string, Stored>();
  readonly #limits: ArtifactLimits;
  readonly #usage: Usage;

  constructor(limits: ArtifactLimits) {
    this.#limits = limits;
    this.#usage = new Usage(limits);
  }

  async create(record: ArtifactRecord): Promise<Maybe<ArtifactRecord>> {
    const known = this.#stored.get(record.id);
    if (known !== undefined) return known.record;
    this.#usage.check(record);
    this.#usage.add(record);
    this.#stored.set(record.id, { record, pieces: [], length: 0 });
    return undefined;
  }

  async get(id: string): Promise<Maybe<ArtifactRecord>> {
    return this.#stored.get(id)?.record;
  }

  async length(id: string): Promise<number> {
    return this.#stored.get(id)?.length ?? 0;
  }

  /** Always copies, so that later changes of the caller's buffer have no effect. */
  async append(id: string, offset: number, piece: Uint8Array, grow: boolean): Promise<number> {
    const stored = this.#stored.get(id);
    if (stored === undefined || stored.length !== offset) return stored?.length ?? 0;
    if (grow) {
      this.#usage.checkGrowth(stored.record, piece.length);
      this.#replace(stored, { ...stored.record, bytes: stored.record.bytes + piece.length });
    }
    stored.pieces.push(piece.slice());
    stored.length += piece.length;
    return stored.length;
  }

  async change(id: string, change: RecordChange): Promise<Maybe<ArtifactRecord>> {
    const stored = this.#stored.get(id);
    const changed = stored && changedRecord(stored.record, change, this.#limits);
    if (stored !== undefined && changed !== undefined) this.#replace(stored, changed);
    return changed;
  }

  async *read(id: string, { start, end }: ByteRange): AsyncIterable<Uint8Array> {
    const stored = this.#stored.get(id);
    if (stored === undefined) throw new AgentError("not_found", "the artifact no longer exists");
    let from = 0;
    for (const piece of stored.pieces) {
      const [first, last] = [Math.max(start - from, 0), Math.min(end - from, piece.length)];
      for (let at = first; at < last; at += CHUNK_BYTES) yield piece.subarray(at, Math.min(at + CHUNK_BYTES, last));
      from += piece.length;
      if (from >= end) return;
    }
  }

  async remove(id: string): Promise<boolean> {
    const stored = this.#stored.get(id);
    if (stored === undefined) return false;
    this.#usage.remove(stored.record);
    return this.#stored.delete(id);
  }

  async due(time: number, most: number): Promise<readonly ArtifactRecord[]> {
    const due: ArtifactRecord[] = [];
    for (const { record } of this.#stored.values()) {
      if (record.expiresAt <= time && due.push(record) >= most) break;
    }
    return due;
  }

  #replace(stored: Stored, record: ArtifactRecord): void {
    this.#usage.remove(stored.record);
    this.#usage.add(record);
    stored.record = record;
  }
}
