import { createHash } from "node:crypto";
import { AgentError } from "../envelope/index.js";
import { ByteCollector } from "../transport/body.js";
import { createQuota, type Reservation } from "./quota.js";
import {
  type ArtifactContent,
  type ArtifactInfo,
  type ArtifactStore,
  DEFAULT_ARTIFACT_LIMITS,
  isArtifactId,
  type StoreOptions,
} from "./store.js";

interface StoredArtifact {
  readonly info: ArtifactInfo;
  readonly content: Uint8Array;
  readonly reservation: Reservation;
}

/** Lower than the disk default. */
const MEMORY_TOTAL_BYTES = 256 * 1024 * 1024;
const CHUNK_BYTES = 256 * 1024;

/** An artifact store that lives as long as the process. */
export function createMemoryArtifacts(options: StoreOptions): ArtifactStore {
  const limits = { ...DEFAULT_ARTIFACT_LIMITS, totalBytes: MEMORY_TOTAL_BYTES, ...options.limits };
  const quota = createQuota(limits);
  // Ordered by expiry, because all are kept for the same time.
  const stored = new Map<string, StoredArtifact>();

  function remove(id: string): boolean {
    stored.get(id)?.reservation.free();
    return stored.delete(id);
  }

  function sweep(): number {
    const now = options.now();
    let removed = 0;
    for (const [id, { info }] of stored) {
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
      if (!isArtifactId(id) || stored.has(id)) throw new AgentError("internal", "the new artifact id is invalid or already used");
      const reservation = quota.reserve(owner);
      try {
        const bytes = await collect(content, reservation);
        const sha256 = createHash("sha256").update(bytes).digest("hex");
        const info = { id, owner, mediaType, name, bytes: bytes.length, sha256, expiresAt: options.now() + limits.keepMs };
        stored.set(id, { info, content: bytes, reservation });
        return info;
      } catch (thrown) {
        reservation.free();
        throw thrown;
      }
    },
    async find(id) {
      const found = stored.get(id);
      return found !== undefined && found.info.expiresAt > options.now() ? found.info : undefined;
    },
    async *read(info, range = { start: 0, end: info.bytes }) {
      const content = stored.get(info.id)?.content;
      if (content === undefined) throw new AgentError("not_found", "the artifact no longer exists");
      for (let at = range.start; at < range.end; at += CHUNK_BYTES)
        yield content.subarray(at, Math.min(at + CHUNK_BYTES, range.end));
    },
    delete: async (id) => remove(id),
    sweep: async () => sweep(),
  };
  return store;
}

/** Always copies, so that later changes of the caller's buffer have no effect. */
async function collect(content: ArtifactContent, reservation: Reservation): Promise<Uint8Array> {
  if (content instanceof Uint8Array) {
    reservation.grow(content.length);
    return content.slice();
  }
  const pieces = new ByteCollector(Number.MAX_SAFE_INTEGER);
  for await (const piece of content) {
    // The reservation enforces the limit.
    reservation.grow(piece.length);
    pieces.add(piece.slice());
  }
  return pieces.whole();
}
