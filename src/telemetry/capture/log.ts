import { AgentError, type Maybe } from "../../envelope/index.js";
import type {
  CapturedMessage,
  CapturedMessageSummary,
  CaptureFeed,
  CaptureFilter,
  CaptureLimits,
  CaptureLog,
} from "./captured-message.js";
import type { Entry, EntryStart } from "./entry.js";
import { FeedReader } from "./feed-reader.js";
import { LinkedList } from "./linked-list.js";

/** `seq` starts from the clock, so that it keeps rising across restarts and old cursors stay valid. */
const SEQ_PER_MS = 1_000;
/** Retry hint when all reader slots are taken. */
const FULL_RETRY_MS = 5_000;

/** A message that has ended. */
export interface EndedMessage {
  readonly start: EntryStart;
  readonly status: CapturedMessage["status"];
  readonly endedAt: Maybe<number>;
}

/** Watches the ends of captured messages. A log that is not of this process reports none. */
export function watchEnds(log: CaptureLog, watch: (message: EndedMessage) => void): () => void {
  return log instanceof MemoryLog ? log.watchEnds(watch) : () => undefined;
}

/** The captured messages of one process, least recently changed first. Bounded in every dimension; never blocks. */
export class MemoryLog implements CaptureLog {
  readonly #limits: CaptureLimits;
  readonly #byId = new Map<string, Entry>();
  /** By their last change. */
  readonly #entries = new LinkedList<Entry>((entry) => entry.inLog);
  /** Those that hold content, in eviction order. */
  readonly #withContent = new LinkedList<Entry>((entry) => entry.withContent);
  readonly #readers = new Set<FeedReader>();
  readonly #endWatches = new Set<(message: EndedMessage) => void>();
  #seq: number;
  #totalBytes = 0;
  #closed = false;
  #evicted = 0;
  /** Highest evicted `seq`: a reader resuming from below it has missed messages. */
  #evictedUpTo: number;

  constructor(limits: CaptureLimits, startedAt: number) {
    this.#limits = limits;
    this.#seq = startedAt * SEQ_PER_MS;
    this.#evictedUpTo = this.#seq;
  }

  get size(): number {
    return this.#byId.size;
  }

  get forgotten(): number {
    return this.#evicted;
  }

  /** Content bytes held by all entries. */
  get totalBytes(): number {
    return this.#totalBytes;
  }

  get readers(): number {
    return this.#readers.size;
  }

  add(entry: Entry): void {
    this.#byId.set(entry.start.id, entry);
    this.#move(entry);
    entry.firstSeq = entry.seq;
    if (this.#byId.size > this.#limits.sightings) this.#evictOldest();
  }

  /** Records a change. An evicted entry stays evicted. */
  changed(entry: Entry): void {
    if (this.#entries.has(entry)) this.#move(entry);
  }

  list(filter: CaptureFilter, limit: number, before = Number.POSITIVE_INFINITY): readonly CapturedMessageSummary[] {
    const found: CapturedMessageSummary[] = [];
    for (const entry of this.#entries.newestFirst()) {
      if (found.length >= limit) break;
      if (entry.seq < before && entry.matches(filter)) found.push(entry.summary());
    }
    return found;
  }

  get(id: string): CapturedMessage | undefined {
    return this.#byId.get(id)?.message();
  }

  trace(traceId: string): readonly CapturedMessage[] {
    const found = [...this.#byId.values()].filter((entry) => entry.start.traceId === traceId);
    return found.sort((a, b) => a.firstSeq - b.firstSeq).map((entry) => entry.message());
  }

  follow(filter: CaptureFilter, after: number, signal: AbortSignal): CaptureFeed {
    if (this.#readers.size >= this.#limits.readers)
      throw new AgentError("overloaded", `${this.#limits.readers} feed readers are already connected`, {
        retryAfterMs: FULL_RETRY_MS,
      });
    const reader = new FeedReader({
      filter,
      after: after > 0 ? after : this.#seq,
      signal,
      changedSince: (seq) => this.#changedSince(seq),
      onEnd: () => void this.#readers.delete(reader),
    });
    if (this.#closed) return reader.end();
    this.#readers.add(reader);
    if (after > 0 && after < this.#evictedUpTo) reader.missed++;
    return reader;
  }

  /** Calls it once for each message that has ended, with no copy of it. Returns what stops that. */
  watchEnds(watch: (message: EndedMessage) => void): () => void {
    this.#endWatches.add(watch);
    return () => void this.#endWatches.delete(watch);
  }

  /** Ends every feed and refuses new ones, so that a stopping server does not wait for its readers. */
  close(): void {
    this.#closed = true;
    for (const reader of this.#readers) reader.end();
  }

  /** Oldest change first. */
  #changedSince(seq: number): readonly Entry[] {
    const found: Entry[] = [];
    for (const entry of this.#entries.newestFirst()) {
      if (entry.seq <= seq) break;
      found.push(entry);
    }
    return found.reverse();
  }

  #move(entry: Entry): void {
    this.#entries.remove(entry);
    this.#entries.append(entry);
    entry.seq = ++this.#seq;
    this.#count(entry, entry.size);
    while (this.#totalBytes > this.#limits.totalBytes && this.#dropOldestContent());
    for (const reader of this.#readers) reader.offer(entry);
    if (entry.status !== "open" && !entry.isReported) this.#reportEnd(entry);
  }

  #reportEnd(entry: Entry): void {
    entry.isReported = true;
    for (const watch of this.#endWatches) watch(entry);
  }

  #count(entry: Entry, size: number): void {
    this.#totalBytes += size - entry.countedBytes;
    entry.countedBytes = size;
    if (size === 0) this.#withContent.remove(entry);
    else if (!this.#withContent.has(entry)) this.#withContent.append(entry);
  }

  /** Drops the content of the oldest entry that has any; false if none has. */
  #dropOldestContent(): boolean {
    const oldest = this.#withContent.first;
    if (oldest === undefined) return false;
    oldest.strip();
    this.#count(oldest, oldest.size);
    // The remainder is too small to be dropped again.
    this.#withContent.remove(oldest);
    return true;
  }

  #evictOldest(): void {
    const oldest = this.#entries.first;
    if (oldest === undefined) return;
    this.#byId.delete(oldest.start.id);
    this.#entries.remove(oldest);
    this.#count(oldest, 0);
    this.#evicted++;
    this.#evictedUpTo = oldest.seq;
    for (const reader of this.#readers) reader.evict(oldest);
  }
}
