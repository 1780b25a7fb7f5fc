import type { Maybe } from "../envelope/index.js";
import type { ByteRange } from "./store.js";

/** One artifact as it is stored, finished or not. */
export interface ArtifactRecord {
  readonly id: string;
  readonly owner: string;
  readonly mediaType: Maybe<string>;
  readonly name: Maybe<string>;
  /** The room it takes: all of an announced upload, what was written of anything else. */
  readonly bytes: number;
  /** Of the finished content, or as announced; undefined until known. */
  readonly sha256: Maybe<string>;
  readonly complete: boolean;
  readonly expiresAt: number;
  /** The owner's tasks that refer to it. */
  readonly tasks: readonly string[];
}

/** A change of a record. */
export interface RecordChange {
  /** Everything is stored, and has this digest. */
  readonly sha256?: Maybe<string>;
  readonly expiresAt?: Maybe<number>;
  /** A further task that refers to it. Ignored if it is known. */
  readonly task?: Maybe<string>;
}

/**
 * Where artifacts are stored. Every method is one step for all users of the place, and counts what it stores against the limits: throws
 * `too_large` or `overloaded` before one is exceeded.
 */
export interface ArtifactBackend {
  readonly durability: string;
  /** Creates a record; returns the existing one instead if there is one with this id. */
  create(record: ArtifactRecord): Promise<Maybe<ArtifactRecord>>;
  get(id: string): Promise<Maybe<ArtifactRecord>>;
  /** The bytes stored so far. */
  length(id: string): Promise<number>;
  /** Appends if the stored length is `offset`. Returns the length afterwards. `grow`: the bytes were not reserved before. */
  append(id: string, offset: number, piece: Uint8Array, grow: boolean): Promise<number>;
  /** Undefined if it is gone, or its tasks are too many. */
  change(id: string, change: RecordChange): Promise<Maybe<ArtifactRecord>>;
  read(id: string, range: ByteRange): AsyncIterable<Uint8Array>;
  remove(id: string): Promise<boolean>;
  /** Records that end until this time, at most so many. */
  due(time: number, most: number): Promise<readonly ArtifactRecord[]>;
  close?(): Promise<void>;
}
