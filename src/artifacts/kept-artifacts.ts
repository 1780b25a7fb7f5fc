import { createHash } from "node:crypto";
import { AgentError, type Maybe } from "../envelope/index.js";
import type { ArtifactBackend, ArtifactRecord } from "./backend.js";
import {
  type ArtifactContent,
  type ArtifactFacts,
  type ArtifactInfo,
  type ArtifactLimits,
  type ArtifactStore,
  type ByteRange,
  type IsReferred,
  isArtifactId,
  type StoreOptions,
  type UploadFacts,
  type UploadState,
} from "./store.js";

/** Written in one step at most, so that a store that others use too is not busy for long. */
const WRITE_BYTES = 1024 * 1024;
/** Looked at in one step of a sweep. */
const SWEPT_AT_ONCE = 100;

/** The rules of an artifact store: ids, digests, expiry, references by tasks. The place is the backend's. */
export class KeptArtifacts implements ArtifactStore {
  readonly artifactBytes: number;
  readonly durability: string;
  readonly #backend: ArtifactBackend;
  readonly #options: StoreOptions;
  readonly #limits: ArtifactLimits;
  readonly close: () => Promise<void>;

  constructor(backend: ArtifactBackend, options: StoreOptions, limits: ArtifactLimits) {
    this.#backend = backend;
    this.#options = options;
    this.#limits = limits;
    this.artifactBytes = limits.artifactBytes;
    this.durability = backend.durability;
    this.close = async () => backend.close?.();
  }

  async put(content: ArtifactContent, facts: ArtifactFacts): Promise<ArtifactInfo> {
    await this.sweep();
    const id = this.#options.newId();
    const { owner, mediaType, name, task } = facts;
    const bytes = content instanceof Uint8Array ? content.length : 0;
    const expiresAt = this.#options.now() + this.#limits.uploadKeepMs;
    const tasks = task === undefined ? [] : [task];
    const record = { id, owner, mediaType, name, bytes, sha256: undefined, complete: false, expiresAt, tasks };
    if (!isArtifactId(id) || (await this.#backend.create(record)) !== undefined)
      throw new AgentError("internal", "the new artifact id is invalid or already used");
    try {
      const hash = createHash("sha256");
      let length = 0;
      for await (const piece of content instanceof Uint8Array ? [content] : content) {
        hash.update(piece);
        length = await this.#write(id, length, piece, !(content instanceof Uint8Array));
      }
      return await this.#complete(id, hash.digest("hex"));
    } catch (thrown) {
      await this.#backend.remove(id);
      throw thrown;
    }
  }

  async begin(id: string, facts: UploadFacts): Promise<UploadState> {
    await this.sweep();
    if (!isArtifactId(id)) throw new AgentError("internal", "the new artifact id is invalid");
    const { owner, mediaType, name, bytes, sha256 } = facts;
    const now = this.#options.now();
    const expiresAt = now + this.#limits.uploadKeepMs;
    const record = { id, owner, mediaType, name, bytes, sha256, complete: false, expiresAt, tasks: [] };
    const known = await this.#backend.create(record);
    if (known === undefined) return this.#stateOf(record);
    const kept = known.complete ? now + this.#limits.keepMs : expiresAt;
    return this.#stateOf((await this.#backend.change(id, { expiresAt: Math.max(kept, known.expiresAt) })) ?? known);
  }

  async upload(id: string): Promise<Maybe<UploadState>> {
    const record = isArtifactId(id) ? await this.#backend.get(id) : undefined;
    if (record?.sha256 === undefined || !this.#isLive(record)) return undefined;
    return this.#stateOf(record);
  }

  async append(id: string, offset: number, piece: Uint8Array): Promise<UploadState> {
    const before = await this.upload(id);
    if (before === undefined) throw new AgentError("not_found", "no such upload; begin it again");
    if (before.info !== undefined || before.offset !== offset) return before;
    if (offset + piece.length > before.bytes)
      throw new AgentError("invalid_message", "the piece exceeds the announced size", { field: "content-range" });
    await this.#write(id, offset, piece, false);
    const record = await this.#backend.change(id, { expiresAt: this.#options.now() + this.#limits.uploadKeepMs });
    if (record === undefined) throw new AgentError("not_found", "no such upload; begin it again");
    return this.#stateOf(record);
  }

  async refer(id: string, task: string): Promise<boolean> {
    return isArtifactId(id) && (await this.#backend.change(id, { task })) !== undefined;
  }

  async find(id: string, isReferred?: Maybe<IsReferred>): Promise<Maybe<ArtifactInfo>> {
    const record = isArtifactId(id) ? await this.#backend.get(id) : undefined;
    if (record?.complete !== true) return undefined;
    if (this.#isLive(record) || (record.tasks.length > 0 && (await isReferred?.(record.owner, record.tasks)) === true))
      return infoOf(record);
    return undefined;
  }

  async *read({ id, bytes }: ArtifactInfo, range: ByteRange = { start: 0, end: bytes }): AsyncIterable<Uint8Array> {
    if (!isArtifactId(id)) throw new AgentError("not_found", "the artifact no longer exists");
    if (range.end > range.start) yield* this.#backend.read(id, range);
  }

  async delete(id: string): Promise<boolean> {
    return isArtifactId(id) && this.#backend.remove(id);
  }

  async sweep(isReferred?: Maybe<IsReferred>): Promise<number> {
    let removed = 0;
    for (;;) {
      const due = await this.#backend.due(this.#options.now(), SWEPT_AT_ONCE);
      let gone = 0;
      for (const record of due) {
        const kept = await this.#isKept(record, isReferred);
        if (!kept && (await this.#backend.remove(record.id))) gone++;
      }
      removed += gone;
      if (due.length < SWEPT_AT_ONCE || gone === 0) return removed;
    }
  }

  /** An expired artifact stays while a task refers to it. It is looked at again after `keepMs`. */
  async #isKept(record: ArtifactRecord, isReferred: Maybe<IsReferred>): Promise<boolean> {
    if (!record.complete || record.tasks.length === 0) return false;
    if (isReferred === undefined) return true;
    if (!(await isReferred(record.owner, record.tasks))) return false;
    await this.#backend.change(record.id, { expiresAt: this.#options.now() + this.#limits.keepMs });
    return true;
  }

  #isLive({ expiresAt }: ArtifactRecord): boolean {
    return expiresAt > this.#options.now();
  }

  /** Returns the stored length. Another writer at the same place is not overwritten. */
  async #write(id: string, offset: number, piece: Uint8Array, grow: boolean): Promise<number> {
    let length = offset;
    for (let at = 0; at < piece.length; at += WRITE_BYTES) {
      const part = piece.subarray(at, at + WRITE_BYTES);
      const after = await this.#backend.append(id, length, part, grow);
      if (after !== length + part.length) return after;
      length = after;
    }
    return length;
  }

  async #complete(id: string, sha256: string): Promise<ArtifactInfo> {
    const record = await this.#backend.change(id, { sha256, expiresAt: this.#options.now() + this.#limits.keepMs });
    if (record === undefined) throw new AgentError("not_found", "the artifact was removed while it was written");
    return infoOf(record);
  }

  /** A whole upload is verified by whoever looks at it first: its writer may be gone. */
  async #stateOf(record: ArtifactRecord): Promise<UploadState> {
    const { id, owner, bytes, sha256 } = record;
    if (record.complete) return { owner, bytes, offset: bytes, info: infoOf(record) };
    const offset = await this.#backend.length(id);
    if (offset < bytes) return { owner, bytes, offset, info: undefined };
    const hash = createHash("sha256");
    if (bytes > 0) for await (const chunk of this.#backend.read(id, { start: 0, end: bytes })) hash.update(chunk);
    const digest = hash.digest("hex");
    if (digest === sha256) return { owner, bytes, offset, info: await this.#complete(id, digest) };
    await this.#backend.remove(id);
    throw new AgentError("invalid_message", "the uploaded bytes do not have the announced digest; upload them again", {
      field: "sha256",
    });
  }
}

function infoOf({ id, owner, mediaType, name, bytes, sha256 = "", expiresAt }: ArtifactRecord): ArtifactInfo {
  return { id, owner, mediaType, name, bytes, sha256, expiresAt };
}
