import type { Maybe } from "../envelope/index.js";

/** Limits of an artifact store. */
export interface ArtifactLimits {
  /** Size of one artifact. */
  readonly artifactBytes: number;
  readonly artifactsPerOwner: number;
  /** All artifacts together, including those being written. */
  readonly totalBytes: number;
  /** How long an artifact is kept, which also limits its links. */
  readonly keepMs: number;
}

/** Defaults for one agent on one machine. */
export const DEFAULT_ARTIFACT_LIMITS: ArtifactLimits = Object.freeze({
  artifactBytes: 64 * 1024 * 1024,
  artifactsPerOwner: 1_000,
  totalBytes: 1024 * 1024 * 1024,
  keepMs: 60 * 60 * 1000,
});

/** Given when content is stored. */
export interface ArtifactFacts {
  readonly owner: string;
  readonly mediaType?: Maybe<string>;
  readonly name?: Maybe<string>;
}

/** Known once the content is stored. */
export interface ArtifactInfo extends ArtifactFacts {
  readonly id: string;
  readonly bytes: number;
  /** SHA-256 of the whole content, 64 lower-case hex digits. */
  readonly sha256: string;
  /** Milliseconds since the epoch, after which the artifact is not found. */
  readonly expiresAt: number;
}

/** Bytes from `start` up to, not including, `end`; both within the artifact. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Complete bytes, or a stream. */
export type ArtifactContent = Uint8Array | AsyncIterable<Uint8Array>;

/** Stores large parts while messages refer to them. Missing and expired are the same; the caller checks ownership. */
export interface ArtifactStore {
  /** Throws `too_large` for an artifact over its limit, `overloaded` if the owner or the store is full. */
  put(content: ArtifactContent, facts: ArtifactFacts): Promise<ArtifactInfo>;
  find(id: string): Promise<Maybe<ArtifactInfo>>;
  /** Streams the content; nothing is opened before the first chunk is pulled. */
  read(info: ArtifactInfo, range?: ByteRange): AsyncIterable<Uint8Array>;
  /** True if it existed. */
  delete(id: string): Promise<boolean>;
  /** Removes expired artifacts and returns their number; `put` does so too. */
  sweep(): Promise<number>;
}

/** Injected clock and ids. Ids must be hard to guess. */
export interface StoreOptions {
  readonly limits?: Maybe<Partial<ArtifactLimits>>;
  now(): number;
  newId(): string;
}

/** Ids become file names and path segments: letters, digits, `-` and `_` only. */
export function isArtifactId(id: string): boolean {
  return /^[A-Za-z0-9_-]{1,128}$/.test(id);
}
