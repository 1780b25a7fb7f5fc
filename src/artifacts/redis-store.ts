import { createHash } from "node:crypto";
import type { Redis } from "ioredis";
import { AgentError, isObject, type Maybe, subjectOf } from "../envelope/index.js";
import type { ArtifactBackend, ArtifactRecord, RecordChange } from "./backend.js";
import { KeptArtifacts } from "./kept-artifacts.js";
import { APPEND, CHANGE, CREATE, GET, REMOVE } from "./redis-scripts.js";
import { type ArtifactLimits, type ArtifactStore, type ByteRange, DEFAULT_ARTIFACT_LIMITS, type StoreOptions } from "./store.js";
import { type FullReason, fullError, isUpload } from "./usage.js";

/** Options of `openRedisArtifacts`. */
export interface RedisArtifactOptions extends StoreOptions {
  /** `redis://` or `rediss://`, with credentials. They are never logged. */
  readonly url: string;
  /** Prefix of every key, so that several stores can share one Redis. Default: `koine`. */
  readonly prefix?: Maybe<string>;
}

const MIB = 1024 * 1024;
/** They are in the memory of Redis. */
const REDIS_LIMITS = { artifactBytes: 256 * MIB, bytesPerOwner: 512 * MIB, totalBytes: 1024 * MIB };
/** Bytes of one string in Redis. */
const SEGMENT_BYTES = 4 * MIB;
const CHUNK_BYTES = 256 * 1024;
const ANSWER_MS = 3_000;
const RETRY_MOST_MS = 1_000;

export async function openRedisArtifacts(options: RedisArtifactOptions): Promise<ArtifactStore> {
  const limits = { ...DEFAULT_ARTIFACT_LIMITS, ...REDIS_LIMITS, ...options.limits };
  const { Redis } = await import("ioredis");
  const client = new Redis(options.url, {
    protocol: 2,
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    connectTimeout: ANSWER_MS,
    socketTimeout: ANSWER_MS,
    retryStrategy: (tries: number) => Math.min(50 * 2 ** Math.min(tries, 10), RETRY_MOST_MS),
  });
  // Connection errors are reported to the callers of the failed commands.
  client.on("error", () => undefined);
  try {
    await client.connect();
  } catch (thrown) {
    client.disconnect();
    throw unavailable(thrown);
  }
  return new KeptArtifacts(new RedisBackend(client, `${options.prefix ?? "koine"}:{artifacts}`, limits), options, limits);
}

type Value = string | number | Buffer;

class RedisBackend implements ArtifactBackend {
  readonly durability = "in Redis, shared by all replicas";
  readonly #client: Redis;
  readonly #prefix: string;
  readonly #limits: ArtifactLimits;
  readonly #digests = new Map<string, string>();

  constructor(client: Redis, prefix: string, limits: ArtifactLimits) {
    this.#client = client;
    this.#prefix = prefix;
    this.#limits = limits;
  }

  async create(record: ArtifactRecord): Promise<Maybe<ArtifactRecord>> {
    const { id, owner, mediaType, name, bytes, sha256 = "", expiresAt, tasks } = record;
    const { artifactBytes, artifactsPerOwner, uploadsPerOwner, bytesPerOwner, totalBytes } = this.#limits;
    const facts = JSON.stringify({ owner, mediaType, name });
    const about = [id, tagOf(owner), isUpload(record) ? 1 : 0, bytes, expiresAt, facts, sha256, tasks[0] ?? ""];
    const limits = [artifactBytes, artifactsPerOwner, uploadsPerOwner, bytesPerOwner, totalBytes];
    const outcome = String(await this.#run(CREATE, [...about, ...limits]));
    if (outcome === "made") return undefined;
    if (outcome === "there") return (await this.get(id)) ?? this.create(record); // removed in between
    throw fullError(outcome as FullReason, this.#limits);
  }

  async get(id: string): Promise<Maybe<ArtifactRecord>> {
    return (await this.#load(id))?.record;
  }

  async length(id: string): Promise<number> {
    return (await this.#load(id))?.length ?? 0;
  }

  async append(id: string, offset: number, piece: Uint8Array, grow: boolean): Promise<number> {
    const { artifactBytes, bytesPerOwner, totalBytes } = this.#limits;
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    const limits = [artifactBytes, bytesPerOwner, totalBytes];
    const outcome = await this.#run(APPEND, [id, offset, bytes, grow ? 1 : 0, SEGMENT_BYTES, ...limits]);
    if (typeof outcome === "number") return outcome;
    throw fullError(String(outcome) as FullReason, this.#limits);
  }

  async change(id: string, { sha256 = "", expiresAt, task = "" }: RecordChange): Promise<Maybe<ArtifactRecord>> {
    const done = await this.#run(CHANGE, [id, sha256, expiresAt ?? "", task, this.#limits.tasksPerArtifact]);
    return done === 1 ? this.get(id) : undefined;
  }

  async *read(id: string, { start, end }: ByteRange): AsyncIterable<Uint8Array> {
    for (let at = start; at < end; ) {
      const within = at % SEGMENT_BYTES;
      const size = Math.min(CHUNK_BYTES, end - at, SEGMENT_BYTES - within);
      const key = `${this.#prefix}:d:${id}:${Math.floor(at / SEGMENT_BYTES)}`;
      const chunk = await this.#answer(this.#client.getrangeBuffer(key, within, within + size - 1));
      if (chunk.length !== size) throw new AgentError("not_found", "the artifact no longer exists");
      at += size;
      yield chunk;
    }
  }

  async remove(id: string): Promise<boolean> {
    return (await this.#run(REMOVE, [id, SEGMENT_BYTES])) === 1;
  }

  async due(time: number, most: number): Promise<readonly ArtifactRecord[]> {
    const ids = await this.#answer(this.#client.zrangebyscore(`${this.#prefix}:ends`, "-inf", time, "LIMIT", 0, most));
    const due: ArtifactRecord[] = [];
    for (const id of ids) {
      const record = await this.get(id);
      if (record === undefined) await this.remove(id);
      else if (record.expiresAt <= time) due.push(record);
    }
    return due;
  }

  async close(): Promise<void> {
    await this.#client.quit().catch(() => undefined);
    this.#client.disconnect();
  }

  async #load(id: string): Promise<Maybe<{ readonly record: ArtifactRecord; readonly length: number }>> {
    const answer = await this.#run(GET, [id]);
    if (!Array.isArray(answer)) return undefined;
    const [[facts, bytes, length, complete, sha256, expires], tasks] = answer as [Maybe<string>[], string[]]; // by GET
    const { owner, mediaType, name } = readFacts(facts);
    const record = {
      id,
      owner,
      mediaType,
      name,
      bytes: Number(bytes),
      sha256: sha256 === "" ? undefined : sha256,
      complete: complete === "1",
      expiresAt: Number(expires),
      tasks,
    };
    return { record, length: Number(length) };
  }

  async #run(script: string, values: readonly Value[]): Promise<unknown> {
    let digest = this.#digests.get(script);
    if (digest === undefined) {
      digest = createHash("sha1").update(script).digest("hex");
      this.#digests.set(script, digest);
    }
    try {
      return await this.#client.evalsha(digest, 0, this.#prefix, ...values);
    } catch (thrown) {
      if (!(thrown instanceof Error) || !thrown.message.startsWith("NOSCRIPT")) throw unavailable(thrown);
    }
    return this.#answer(this.#client.eval(script, 0, this.#prefix, ...values));
  }

  async #answer<T>(answer: Promise<T>): Promise<T> {
    try {
      return await answer;
    } catch (thrown) {
      throw unavailable(thrown);
    }
  }
}

/** Callers by digest: names of keys and fields show no caller. */
function tagOf(owner: string): string {
  return createHash("sha256").update(subjectOf(owner)).digest("base64url").slice(0, 22);
}

function readFacts(text: Maybe<string>): Pick<ArtifactRecord, "owner" | "mediaType" | "name"> {
  const facts: unknown = JSON.parse(text ?? "null");
  if (!isObject(facts) || typeof facts["owner"] !== "string")
    throw new AgentError("internal", "an artifact in Redis has an unexpected form");
  const { owner, mediaType, name } = facts;
  const text_ = (value: unknown): Maybe<string> => (typeof value === "string" ? value : undefined);
  return { owner, mediaType: text_(mediaType), name: text_(name) };
}

/** Only the text is kept as the cause: the library's error carries the command with all its values. */
function unavailable(thrown: unknown): AgentError {
  if (thrown instanceof AgentError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const full = message.startsWith("OOM");
  return new AgentError(
    "unavailable",
    full ? "the artifact store is full: Redis has no memory left" : "the artifact store does not answer",
    {
      cause: new Error(message),
    },
  );
}
