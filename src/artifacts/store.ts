import type { Maybe } from "../envelope/index.js";

/** Everything a store keeps has an owner, a size and an end. */
export interface ArtifactLimits {
  /** One artifact. */
  readonly artifactBytes: number;
  readonly artifactsPerOwner: number;
  /** All artifacts together, those being written included. */
  readonly totalBytes: number;
  /** How long an artifact is kept, and so the longest life of a link to it. */
  readonly keepMs: number;
}

/** Modest, for one agent on one machine. */
export const DEFAULT_ARTIFACT_LIMITS: ArtifactLimits = Object.freeze({
  artifactBytes: 64 * 1024 * 1024,
  artifactsPerOwner: 1_000,
  totalBytes: 1024 * 1024 * 1024,
  keepMs: 60 * 60 * 1000,
});

/** What is said when content is put. */
export interface ArtifactFacts {
  readonly owner: string;
  readonly mediaType?: Maybe<string>;
  readonly name?: Maybe<string>;
}

/** What is known once it is there. */
export interface ArtifactInfo extends ArtifactFacts {
  readonly id: string;
  readonly bytes: number;
  /** Of the whole content, 64 hex digits in lower case. */
  readonly sha256: string;
  /** Milliseconds since the epoch; from then on the artifact is not found. */
  readonly expiresAt: number;
}

/** Bytes from `start` up to, not including, `end`; both within the artifact. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Bytes at once, or as they come. */
export type ArtifactContent = Uint8Array | AsyncIterable<Uint8Array>;

/** Where large parts live while they travel. Missing and expired are the same; whose it is, is the caller's to check. */
export interface ArtifactStore {
  /** Throws `too_large` for one artifact over its limit, `overloaded` when the owner or the store is full. */
  put(content: ArtifactContent, facts: ArtifactFacts): Promise<ArtifactInfo>;
  find(id: string): Promise<Maybe<ArtifactInfo>>;
  /** The content, read as it is taken; nothing is held open before the first chunk is asked for. */
  read(info: ArtifactInfo, range?: ByteRange): AsyncIterable<Uint8Array>;
  /** True if it was there. */
  delete(id: string): Promise<boolean>;
  /** Removes what has expired and says how many; `put` does so too. */
  sweep(): Promise<number>;
}

/** Time and identity, given in. Ids must be hard to guess. */
export interface StoreOptions {
  readonly limits?: Maybe<Partial<ArtifactLimits>>;
  now(): number;
  newId(): string;
}

/** Ids become file names and path segments, so they are of letters, digits, `-` and `_` only. */
export function isArtifactId(id: string): boolean {
  return /^[A-Za-z0-9_-]{1,128}$/.test(id);
}
