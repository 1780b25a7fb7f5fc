import type { Awaitable, Maybe } from "../envelope/index.js";

/** Limits of an artifact store. */
export interface ArtifactLimits {
  /** Size of one artifact. */
  readonly artifactBytes: number;
  /** Artifacts of one caller, over all its tenants. */
  readonly artifactsPerOwner: number;
  /** Bytes of one caller, over all its tenants, uploads in progress included. */
  readonly bytesPerOwner: number;
  /** Uploads in progress of one caller, over all its tenants. */
  readonly uploadsPerOwner: number;
  /** All artifacts together, including those being written. */
  readonly totalBytes: number;
  /** Tasks that refer to one artifact. */
  readonly tasksPerArtifact: number;
  /** How long an artifact is kept that no task refers to. */
  readonly keepMs: number;
  /** How long an unfinished upload is kept after its last piece. */
  readonly uploadKeepMs: number;
}

const MIB = 1024 * 1024;
const HOUR_MS = 60 * 60 * 1000;

/** Defaults for one agent on one machine. */
export const DEFAULT_ARTIFACT_LIMITS: ArtifactLimits = Object.freeze({
  artifactBytes: 512 * MIB,
  artifactsPerOwner: 1_000,
  bytesPerOwner: 2048 * MIB,
  uploadsPerOwner: 16,
  totalBytes: 8192 * MIB,
  tasksPerArtifact: 64,
  keepMs: HOUR_MS,
  uploadKeepMs: HOUR_MS,
});

/** Given when content is stored. */
export interface ArtifactFacts {
  readonly owner: string;
  readonly mediaType?: Maybe<string>;
  readonly name?: Maybe<string>;
  /** The owner's task that refers to it. */
  readonly task?: Maybe<string>;
}

/** Known once the content is stored. */
export interface ArtifactInfo {
  readonly id: string;
  readonly owner: string;
  readonly mediaType?: Maybe<string>;
  readonly name?: Maybe<string>;
  readonly bytes: number;
  /** SHA-256 of the whole content, 64 lower-case hex digits. */
  readonly sha256: string;
  /** Milliseconds since the epoch, after which the artifact is not found unless a task refers to it. */
  readonly expiresAt: number;
}

/** Content that is uploaded in pieces: its size and digest are known before the first one. */
export interface UploadFacts extends Omit<ArtifactFacts, "task"> {
  readonly bytes: number;
  readonly sha256: string;
}

/** An upload, finished or in progress. */
export interface UploadState {
  readonly owner: string;
  readonly bytes: number;
  /** What is stored: the next piece begins here. */
  readonly offset: number;
  /** The artifact, once everything is stored and its digest is verified. */
  readonly info: Maybe<ArtifactInfo>;
}

/** Bytes from `start` up to, not including, `end`; both within the artifact. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

/** Complete bytes, or a stream. */
export type ArtifactContent = Uint8Array | AsyncIterable<Uint8Array>;

/** Whether one of the owner's tasks with these ids still exists. */
export type IsReferred = (owner: string, tasks: readonly string[]) => Awaitable<boolean>;

/**
 * Stores large parts while messages and tasks refer to them. Missing and expired are the same; the caller checks ownership. An artifact
 * that tasks refer to is removed by `sweep` alone, which is told what tasks exist.
 */
export interface ArtifactStore {
  /** Size limit of one artifact. */
  readonly artifactBytes: number;
  /** Where artifacts are kept, in a few words for the operator. */
  readonly durability: string;
  /** Throws `too_large` for an artifact over its limit, `overloaded` if the owner or the store is full. */
  put(content: ArtifactContent, facts: ArtifactFacts): Promise<ArtifactInfo>;
  /** Begins an upload, and reserves room for all of it; or finds the one with this id. Throws as `put` does. */
  begin(id: string, facts: UploadFacts): Promise<UploadState>;
  /** Undefined if there is no upload with this id. */
  upload(id: string): Promise<Maybe<UploadState>>;
  /**
   * Appends a piece; the last one is followed by the check of the digest. A piece that begins elsewhere than at the stored length is
   * ignored: compare `offset` of the result. Throws `invalid_message` for another digest than announced; the upload is then gone.
   */
  append(id: string, offset: number, piece: Uint8Array): Promise<UploadState>;
  /** The owner's task refers to the artifact from now on. False if there is none, or too many tasks refer to it. */
  refer(id: string, task: string): Promise<boolean>;
  find(id: string, isReferred?: Maybe<IsReferred>): Promise<Maybe<ArtifactInfo>>;
  /** Streams the content; nothing is opened before the first chunk is pulled. */
  read(info: ArtifactInfo, range?: ByteRange): AsyncIterable<Uint8Array>;
  /** True if it existed. */
  delete(id: string): Promise<boolean>;
  /** Removes expired artifacts that no task refers to, and returns their number. Without `isReferred` every task counts as existing. */
  sweep(isReferred?: Maybe<IsReferred>): Promise<number>;
  /** Closes connections, if there are any. */
  close?(): Promise<void>;
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
