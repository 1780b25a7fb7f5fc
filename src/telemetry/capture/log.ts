import { AgentError } from "../../envelope/index.js";
import type {
  CapturedMessage,
  CapturedMessageSummary,
  CaptureFeed,
  CaptureFilter,
  CaptureLimits,
  CaptureLog,
} from "./captured-message.js";
import type { Entry } from "./entry.js";
import { FeedReader } from "./feed-reader.js";

/** Places are numbers that go on rising after a restart, so that a reader that comes back with an old one misses nothing. */
const PLACES_PER_MS = 1_000;
/** When a reader that found no place may try again. */
const FULL_RETRY_MS = 5_000;

/** The sightings of one process, the least recently changed first. Nothing here waits, and nothing grows without bound. */
export class MemoryLog implements CaptureLog {
  readonly #limits: CaptureLimits;
  readonly #entries = new Map<string, Entry>();
  /** Those that hold bytes, in the order in which they give them up. */
  readonly #heavy = new Set<Entry>();
  readonly #readers = new Set<FeedReader>();
  #seq: number;
  #totalBytes = 0;
  #closed = false;
  #forgotten = 0;
  /** The highest place of a forgotten one: who comes back from before it has missed something. */
  #forgottenUpTo: number;

  constructor(limits: CaptureLimits, startedAt: number) {
    this.#limits = limits;
    this.#seq = startedAt * PLACES_PER_MS;
    this.#forgottenUpTo = this.#seq;
  }

  get size(): number {
    return this.#entries.size;
  }

  get forgotten(): number {
    return this.#forgotten;
  }

  /** What all of them hold. */
  get totalBytes(): number {
    return this.#totalBytes;
  }

  get readers(): number {
    return this.#readers.size;
  }

  add(entry: Entry): void {
    this.#entries.set(entry.start.id, entry);
    this.#move(entry);
    entry.firstSeq = entry.seq;
    if (this.#entries.size > this.#limits.sightings) this.#forgetOldest();
  }

  /** Something about it is new. One that was forgotten stays forgotten. */
  changed(entry: Entry): void {
    if (this.#entries.delete(entry.start.id)) {
      this.#entries.set(entry.start.id, entry);
      this.#move(entry);
    }
  }

  list(filter: CaptureFilter, limit: number, before = Number.POSITIVE_INFINITY): readonly CapturedMessageSummary[] {
    const newestFirst = [...this.#entries.values()].reverse();
    const found: CapturedMessageSummary[] = [];
    for (const entry of newestFirst) {
      if (found.length >= limit) break;
      if (entry.seq < before && entry.matches(filter)) found.push(entry.summary());
    }
    return found;
  }

  get(id: string): CapturedMessage | undefined {
    return this.#entries.get(id)?.sighting();
  }

  trace(traceId: string): readonly CapturedMessage[] {
    const found = [...this.#entries.values()].filter((entry) => entry.start.traceId === traceId);
    return found.sort((a, b) => a.firstSeq - b.firstSeq).map((entry) => entry.sighting());
  }

  follow(filter: CaptureFilter, after: number, signal: AbortSignal): CaptureFeed {
    if (this.#readers.size >= this.#limits.readers)
      throw new AgentError("overloaded", `${this.#limits.readers} readers are following already`, {
        retryAfterMs: FULL_RETRY_MS,
      });
    const reader = new FeedReader(filter, signal, () => void this.#readers.delete(reader));
    if (this.#closed) return reader.end();
    this.#readers.add(reader);
    if (after > 0 && after < this.#forgottenUpTo) reader.missed++;
    if (after > 0) for (const entry of this.#entries.values()) if (entry.seq > after) reader.offer(entry);
    return reader;
  }

  /** Ends every feed, and each that is asked for later: a server that stops must not wait for those who look at it. */
  close(): void {
    this.#closed = true;
    for (const reader of this.#readers) reader.end();
  }

  #move(entry: Entry): void {
    entry.seq = ++this.#seq;
    this.#count(entry, entry.size);
    while (this.#totalBytes > this.#limits.totalBytes && this.#lighten());
    for (const reader of this.#readers) reader.offer(entry);
  }

  #count(entry: Entry, size: number): void {
    this.#totalBytes += size - entry.counted;
    entry.counted = size;
    if (size > 0) this.#heavy.add(entry);
    else this.#heavy.delete(entry);
  }

  /** The one that has held bytes for the longest time lets go of them; false when nobody holds any. */
  #lighten(): boolean {
    const [oldest] = this.#heavy;
    if (oldest === undefined) return false;
    oldest.strip();
    this.#count(oldest, oldest.size);
    // What is left of it is too little to be asked for again.
    this.#heavy.delete(oldest);
    return true;
  }

  #forgetOldest(): void {
    const [oldest] = this.#entries.values();
    if (oldest === undefined) return;
    this.#entries.delete(oldest.start.id);
    this.#count(oldest, 0);
    this.#forgotten++;
    this.#forgottenUpTo = oldest.seq;
    for (const reader of this.#readers) reader.forget(oldest);
  }
}
