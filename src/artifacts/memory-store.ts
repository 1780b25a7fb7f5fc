import { createHash } from "node:crypto";
import { AgentError } from "../envelope/index.js";
import { ByteCollector } from "../transport/body.js";
import { createQuota, type Room } from "./quota.js";
import {
  type ArtifactContent,
  type ArtifactInfo,
  type ArtifactStore,
  DEFAULT_ARTIFACT_LIMITS,
  isArtifactId,
  type StoreOptions,
} from "./store.js";

interface Kept {
  readonly info: ArtifactInfo;
  readonly content: Uint8Array;
  readonly room: Room;
}

/** Memory is dearer than disk. */
const MEMORY_TOTAL_BYTES = 256 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

/** Artifacts that live as long as the process. */
export function createMemoryArtifacts(options: StoreOptions): ArtifactStore {
  const limits = { ...DEFAULT_ARTIFACT_LIMITS, totalBytes: MEMORY_TOTAL_BYTES, ...options.limits };
  const quota = createQuota(limits);
  // In order of their end, because all are kept for the same time.
  const kept = new Map<string, Kept>();

  function remove(id: string): boolean {
    kept.get(id)?.room.free();
    return kept.delete(id);
  }

  function sweep(): number {
    const now = options.now();
    let removed = 0;
    for (const [id, { info }] of kept) {
      if (info.expiresAt > now) break;
      remove(id);
      removed++;
    }
    return removed;
  }

  const store: ArtifactStore = {
    async put(content, { owner, mediaType, name }) {
      sweep();
      const id = options.newId();
      if (!isArtifactId(id) || kept.has(id)) throw new AgentError("internal", "the new artifact's id cannot be used");
      const room = quota.take(owner);
      try {
        const bytes = await collect(content, room);
        const sha256 = createHash("sha256").update(bytes).digest("hex");
        const info = { id, owner, mediaType, name, bytes: bytes.length, sha256, expiresAt: options.now() + limits.keepMs };
        kept.set(id, { info, content: bytes, room });
        return info;
      } catch (thrown) {
        room.free();
        throw thrown;
      }
    },
    async find(id) {
      const found = kept.get(id);
      return found !== undefined && found.info.expiresAt > options.now() ? found.info : undefined;
    },
    async *read(info, range = { start: 0, end: info.bytes }) {
      const content = kept.get(info.id)?.content;
      if (content === undefined) throw new AgentError("not_found", "the artifact is gone");
      for (let at = range.start; at < range.end; at += CHUNK_BYTES)
        yield content.subarray(at, Math.min(at + CHUNK_BYTES, range.end));
    },
    delete: async (id) => remove(id),
    sweep: async () => sweep(),
  };
  return store;
}

/** Always a copy: what was put stays what it was, whatever its giver does with the buffer. */
async function collect(content: ArtifactContent, room: Room): Promise<Uint8Array> {
  if (content instanceof Uint8Array) {
    room.grow(content.length);
    return content.slice();
  }
  const pieces = new ByteCollector(Number.MAX_SAFE_INTEGER);
  for await (const piece of content) {
    // The room is the limit here; it throws when there is none left.
    room.grow(piece.length);
    pieces.add(piece.slice());
  }
  return pieces.whole();
}
