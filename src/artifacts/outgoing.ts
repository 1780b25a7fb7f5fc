import { AgentError, isSealed, type Maybe, type Part, partBytes, partContent } from "../envelope/index.js";
import type { ArtifactLinks } from "./links.js";
import { writeReference } from "./reference.js";
import type { ArtifactInfo, ArtifactStore } from "./store.js";

/** When parts are moved, where to, and for whom. */
export interface MoveOptions {
  /** Content of this size or more is not sent inline. */
  readonly inlineBytes: number;
  /** The owner of the artifacts: the principal that receives the message. */
  readonly owner: string;
  /** The owner's task that the content belongs to, if there is one already. */
  readonly task?: Maybe<string>;
  /** Without a store, large content is refused. */
  readonly artifacts?: Maybe<{ readonly store: ArtifactStore; readonly links: ArtifactLinks }>;
}

/** Content that can be sent inline. */
export interface MovedContent {
  readonly content: readonly Part[];
  /** The new URLs, for `artifactRefs`. */
  readonly refs: readonly string[];
  /** The ids of the new artifacts. */
  readonly ids: readonly string[];
}

/** Size of a link that replaces a part. */
const LINK_BYTES = 512;

/** Moves the largest parts to the store until the rest fits inline; small content is returned unchanged. Sealed parts stay. */
export async function moveLargeParts(content: readonly Part[], options: MoveOptions): Promise<MovedContent> {
  const chosen = chooseLargest(content, options.inlineBytes);
  if (chosen.size === 0) return { content, refs: [], ids: [] };
  const { artifacts, owner, task } = options;
  if (artifacts === undefined)
    throw new AgentError(
      "too_large",
      `content of ${options.inlineBytes} bytes or more requires an artifact store, and none is configured`,
      {
        field: "content",
      },
    );
  const stored: ArtifactInfo[] = [];
  const refs: string[] = [];
  const moved: Part[] = [];
  try {
    for (const part of content) {
      if (part.kind === "url" || !chosen.has(part)) {
        moved.push(part);
        continue;
      }
      const mediaType = part.mediaType ?? MEDIA_TYPES[part.kind];
      const info = await artifacts.store.put(partContent(part), { owner, mediaType, name: part.name, task });
      stored.push(info);
      const url = artifacts.links.make(info);
      refs.push(url);
      moved.push(writeReference(part, url, { kind: part.kind, bytes: info.bytes, sha256: info.sha256 }));
    }
  } catch (thrown) {
    // Their links will never be sent.
    for (const { id } of stored) await artifacts.store.delete(id);
    throw thrown;
  }
  return { content: moved, refs, ids: stored.map(({ id }) => id) };
}

/** The served media type of a part without one. The part itself stays without. */
const MEDIA_TYPES = { text: "text/plain; charset=utf-8", data: "application/json", raw: "application/octet-stream" } as const;

function chooseLargest(content: readonly Part[], inlineBytes: number): ReadonlySet<Part> {
  const sizes = content.map((part) => ({ part, bytes: partBytes(part) }));
  let total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const chosen = new Set<Part>();
  for (const { part, bytes } of sizes.filter(({ part }) => isMovable(part)).sort((a, b) => b.bytes - a.bytes)) {
    if (total < inlineBytes) break;
    chosen.add(part);
    total -= Math.max(0, bytes - LINK_BYTES);
  }
  return chosen;
}

/** Ciphertext stays: its recipient may be several hops away, where the link is not valid. */
function isMovable(part: Part): boolean {
  return part.kind !== "url" && !isSealed(part);
}
