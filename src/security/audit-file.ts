import { closeSync, fstatSync, ftruncateSync, openSync, readSync, renameSync, statSync, writeSync } from "node:fs";
import { AgentError, type Maybe } from "../envelope/index.js";
import type { AuditSink } from "./audit.js";
import { type AuditEntry, CHAIN_START, digestOfLine, formatEntry } from "./audit-entry.js";

/** Limits of the log file and of what a crash may lose. */
export interface AuditFileLimits {
  /** Flush interval for successes: the maximum lost if the process is killed. */
  readonly flushMs: number;
  /** Size at which the file is rotated to `.1`, that one to `.2`, and so on. */
  readonly fileBytes: number;
  /** Number of rotated files to keep. */
  readonly keptFiles: number;
  /** Entries waiting to be written; further ones are counted, and the count is written. */
  readonly bufferedEntries: number;
  /** Entries per second that are written immediately; the rest waits for the next flush. */
  readonly atOncePerSecond: number;
}
export const DEFAULT_AUDIT_LIMITS: AuditFileLimits = Object.freeze({
  flushMs: 1_000,
  fileBytes: 16 * 1024 * 1024,
  keptFiles: 9,
  bufferedEntries: 1_000,
  atOncePerSecond: 500,
});

/** Options of `openAuditFile`. */
export interface AuditFileOptions {
  /** Overrides of the default limits. */
  readonly limits?: Partial<AuditFileLimits>;
  /** Called once when the log cannot be written, and again for each later outage. */
  onProblem?(error: AgentError): void;
  /** Milliseconds since the epoch. Default: the system clock. */
  now?(): number;
}

/** An audit log in a file: one JSON object per line, each with the digest of the previous line. */
export interface AuditFile extends AuditSink {
  readonly path: string;
  /** Entries lost since the start because they could not be written in time. */
  readonly dropped: number;
}

/** Enough to contain the last complete line. */
const TAIL_BYTES = 64 * 1024;
const NEW_LINE = 0x0a;

/** Opens the log for appending, readable only by its owner. Throws if that fails; later failures never throw. */
export function openAuditFile(path: string, options: AuditFileOptions = {}): AuditFile {
  return new AppendedFile(path, options);
}

class AppendedFile implements AuditFile {
  readonly path: string;
  readonly #options: AuditFileOptions;
  readonly #limits: AuditFileLimits;
  readonly #now: () => number;
  #file: Maybe<Opened>;
  #previous: string;
  #waiting: AuditEntry[] = [];
  #timer: Maybe<ReturnType<typeof setTimeout>>;
  #broken = false;
  #closed = false;
  #unreportedDrops = 0;
  #second = 0;
  #inSecond = 0;
  dropped = 0;

  constructor(path: string, options: AuditFileOptions) {
    this.path = path;
    this.#options = options;
    this.#limits = { ...DEFAULT_AUDIT_LIMITS, ...options.limits };
    this.#now = options.now ?? Date.now;
    try {
      this.#file = openForAppend(path);
      this.#previous = lastDigest(path) ?? lastDigest(`${path}.1`) ?? CHAIN_START;
    } catch (cause) {
      throw new AgentError("unavailable", `the audit log ${path} cannot be opened (${codeOf(cause)})`, { cause });
    }
    this.record({ at: this.#at(), event: "log.opened", who: "koine", what: "audit log" });
  }

  record(entry: AuditEntry): void {
    if (this.#closed || this.#waiting.length >= this.#limits.bufferedEntries) {
      this.dropped++;
      this.#unreportedDrops++;
      return;
    }
    this.#waiting.push(entry);
    // After a disk error only the timer retries, not every caller.
    if (entry.event !== "authenticated" && !this.#broken && this.#mayWriteNow()) this.#flush();
    else this.#arm();
  }

  close(): Promise<void> {
    if (!this.#closed) {
      this.#flush();
      this.#closed = true;
      clearTimeout(this.#timer);
      if (this.#file !== undefined) closeQuietly(this.#file.descriptor);
      this.#file = undefined;
    }
    return Promise.resolve();
  }

  #mayWriteNow(): boolean {
    const second = Math.floor(this.#now() / 1000);
    if (second !== this.#second) {
      this.#second = second;
      this.#inSecond = 0;
    }
    return ++this.#inSecond <= this.#limits.atOncePerSecond;
  }

  #arm(): void {
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
      if (this.#waiting.length > 0) this.#arm();
    }, this.#limits.flushMs);
    this.#timer.unref();
  }

  /** Writes all waiting entries at once, preceded by the number of lost ones. */
  #flush(): void {
    const lost = this.#unreportedDrops;
    const entries = lost === 0 ? this.#waiting : [...this.#waiting, this.#dropEntry(lost)];
    if (entries.length === 0) return;
    try {
      this.#append(entries);
      this.#waiting = [];
      this.#unreportedDrops -= lost;
      this.#broken = false;
    } catch (cause) {
      if (!this.#broken) this.#report(cause);
      this.#broken = true;
    }
  }

  #append(entries: readonly AuditEntry[]): void {
    const file = this.#current();
    const lines: string[] = [];
    let previous = this.#previous;
    for (const entry of entries) {
      const line = formatEntry(entry, previous);
      previous = digestOfLine(line);
      lines.push(line);
    }
    const bytes = Buffer.from(`${file.torn ? "\n" : ""}${lines.join("\n")}\n`);
    writeWhole(file.bytes > 0 && file.bytes + bytes.length > this.#limits.fileBytes ? this.#rotate() : file, bytes);
    this.#previous = previous;
  }

  /** The file at our path. If it was moved or removed a new one is created, and the chain continues. */
  #current(): Opened {
    const known = this.#file;
    const there = statSync(this.path, { throwIfNoEntry: false });
    if (known !== undefined && there !== undefined && there.ino === known.inode) return known;
    if (known !== undefined) closeQuietly(known.descriptor);
    this.#file = undefined;
    this.#file = openForAppend(this.path);
    return this.#file;
  }

  #rotate(): Opened {
    if (this.#file !== undefined) closeQuietly(this.#file.descriptor);
    this.#file = undefined;
    for (let index = this.#limits.keptFiles; index > 1; index--)
      renameIfExists(`${this.path}.${index - 1}`, `${this.path}.${index}`);
    renameSync(this.path, `${this.path}.1`);
    this.#file = openForAppend(this.path);
    return this.#file;
  }

  #dropEntry(calls: number): AuditEntry {
    return {
      at: this.#at(),
      event: "log.dropped",
      who: "koine",
      what: "audit log",
      reason: "could not be written in time",
      calls,
    };
  }

  #at(): string {
    return new Date(this.#now()).toISOString();
  }

  #report(cause: unknown): void {
    const message = `the audit log ${this.path} cannot be written (${codeOf(cause)}); entries are buffered, then only counted`;
    this.#options.onProblem?.(new AgentError("unavailable", message, { cause }));
    this.#arm();
  }
}

interface Opened {
  readonly descriptor: number;
  readonly inode: number;
  bytes: number;
  /** The last line is incomplete: a writer was killed or the disk was full. */
  torn: boolean;
}

function openForAppend(path: string): Opened {
  const torn = endsTorn(path);
  const descriptor = openSync(path, "a", 0o600);
  const { ino, size } = fstatSync(descriptor);
  return { descriptor, inode: ino, bytes: size, torn };
}

/** Writes all or nothing: a partial write is truncated, or at least separated from the next line. */
function writeWhole(file: Opened, bytes: Uint8Array): void {
  let written = 0;
  try {
    while (written < bytes.length) written += writeSync(file.descriptor, bytes, written);
    file.bytes += written;
    file.torn = false;
  } catch (thrown) {
    if (written > 0) {
      try {
        ftruncateSync(file.descriptor, file.bytes);
      } catch {
        file.torn = true;
        file.bytes += written;
      }
    }
    throw thrown;
  }
}

function readTail(path: string): Maybe<Buffer> {
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return undefined;
  const descriptor = openSync(path, "r");
  try {
    const { size } = fstatSync(descriptor);
    const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(descriptor, tail, 0, tail.length, size - tail.length);
    return tail;
  } finally {
    closeSync(descriptor);
  }
}

function endsTorn(path: string): boolean {
  const tail = readTail(path);
  return tail !== undefined && tail.length > 0 && tail.at(-1) !== NEW_LINE;
}

/** The digest of the last complete line. */
function lastDigest(path: string): Maybe<string> {
  const tail = readTail(path);
  if (tail === undefined) return undefined;
  const lines = tail
    .subarray(0, tail.lastIndexOf(NEW_LINE) + 1)
    .toString("utf8")
    .split("\n");
  const last = lines.filter((line) => line.startsWith('{"prev":') && line.endsWith("}")).at(-1);
  return last === undefined ? undefined : digestOfLine(last);
}

function renameIfExists(from: string, to: string): void {
  if (statSync(from, { throwIfNoEntry: false }) !== undefined) renameSync(from, to);
}

function closeQuietly(descriptor: number): void {
  try {
    closeSync(descriptor);
  } catch {
    // Closing failed; nothing is left to close.
  }
}

function codeOf(thrown: unknown): string {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : "unknown reason";
}
