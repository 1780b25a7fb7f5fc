import { type FileHandle, open, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { parseEntry } from "../../src/internal.js";
import { type AuditEntry, auditFiles } from "../../src/public/auth.js";

/** How often the file is looked at. Watching by the system misses files on network disks. */
const LOOK_EVERY_MS = 200;
const READ_BYTES = 64 * 1024;
/** A line longer than any of ours is not waited for. */
const MAX_LINE_CHARS = 128 * 1024;

/** The newest file of a log, from its beginning on and through rotations. */
export interface Tail {
  /** These files without the one that is held. */
  without(files: readonly string[]): Promise<readonly string[]>;
  /** What is there and what is written later, until somebody has seen enough. */
  entries(signal: AbortSignal): AsyncGenerator<AuditEntry, void, void>;
  close(): Promise<void>;
}

export async function openTail(path: string): Promise<Tail> {
  let reader = await openReader(path);

  /** False when the file under that name is the one that is held, or none is there for now. */
  async function wasReplaced(): Promise<boolean> {
    const there = await stat(path).catch(() => undefined);
    return there !== undefined && there.ino !== reader?.inode;
  }

  /** The file that was begun when the held one was put aside: there may have been several since. */
  async function nextFile(): Promise<string> {
    const files = await auditFiles(path);
    const held = (await inodesOf(files)).indexOf(reader?.inode);
    return (held === -1 ? undefined : files[held + 1]) ?? path;
  }

  return {
    async without(files) {
      const inodes = await inodesOf(files);
      return files.filter((_file, index) => inodes[index] !== undefined && inodes[index] !== reader?.inode);
    },
    async *entries(signal) {
      while (!signal.aborted) {
        const replaced = await wasReplaced();
        // What was still written before the file was put aside comes first.
        for await (const line of reader?.read() ?? []) {
          const entry = parseEntry(line);
          if (entry !== undefined) yield entry;
        }
        if (replaced) {
          const next = await nextFile();
          await reader?.close();
          reader = await openReader(next);
        } else await sleep(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
      }
    },
    close: async () => reader?.close(),
  };
}

/** Reads whole lines, and keeps the last unfinished one for the next time. */
class LineReader {
  readonly inode: number;
  readonly #handle: FileHandle;
  readonly #decoder = new TextDecoder();
  #place = 0;
  #rest = "";

  constructor(handle: FileHandle, inode: number) {
    this.#handle = handle;
    this.inode = inode;
  }

  async *read(): AsyncGenerator<string, void, void> {
    const buffer = Buffer.alloc(READ_BYTES);
    for (;;) {
      const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, this.#place);
      if (bytesRead === 0) return;
      this.#place += bytesRead;
      const lines = (this.#rest + this.#decoder.decode(buffer.subarray(0, bytesRead), { stream: true })).split("\n");
      this.#rest = (lines.pop() ?? "").slice(0, MAX_LINE_CHARS);
      yield* lines;
    }
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

function inodesOf(files: readonly string[]): Promise<readonly (number | undefined)[]> {
  return Promise.all(files.map(async (file) => (await stat(file).catch(() => undefined))?.ino));
}

async function openReader(path: string): Promise<LineReader | undefined> {
  const handle = await open(path, "r").catch(() => undefined);
  return handle === undefined ? undefined : new LineReader(handle, (await handle.stat()).ino);
}
