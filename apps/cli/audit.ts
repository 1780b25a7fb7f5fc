import { type FileHandle, open, stat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { parseEntry } from "../../src/internal.js";
import { type AuditEntry, type AuditEvent, auditFiles, readAuditLines, verifyAudit } from "../../src/public/auth.js";
import { CliError, EXIT, usageError } from "./exit.js";
import { listenForInterrupt } from "./interrupt.js";
import { createOutput, type Format, type Output } from "./output.js";
import { oneLine } from "./printable.js";

interface AuditOptions {
  readonly output: Format;
  readonly follow?: boolean;
  /** Milliseconds since the epoch. */
  readonly since?: number;
  readonly who?: string;
  readonly event?: AuditEvent;
  readonly verify?: boolean;
}

export async function readAudit(path: string, options: AuditOptions): Promise<void> {
  if (options.verify === true && options.follow === true)
    throw usageError("--verify looks at what is there; --follow waits for more");
  const output = createOutput(options.output);
  const files = await filesOf(path);
  if (options.verify === true) return verify(files, output);
  if (options.follow === true) return follow(path, options, output);
  await writeLines(files, options, output);
}

async function writeLines(files: readonly string[], options: AuditOptions, output: Output): Promise<void> {
  for await (const { entry, file, number } of readAuditLines(files)) {
    if (entry === undefined) output.say(output.colors.yellow(`${file}, line ${number}: cannot be read`));
    else if (isWanted(entry, options)) await write(entry, output);
  }
}

/** Opens the newest file first, so that nothing is missed between reading and following. */
async function follow(path: string, options: AuditOptions, output: Output): Promise<void> {
  const interrupt = listenForInterrupt();
  const tail = await openTail(path);
  try {
    await writeLines(await tail.without(await filesOf(path)), options, output);
    for await (const entry of tail.entries(interrupt.signal)) if (isWanted(entry, options)) await write(entry, output);
  } finally {
    interrupt.stop();
    await tail.close();
  }
}

async function filesOf(path: string): Promise<readonly string[]> {
  const files = await auditFiles(path).catch(() => []);
  const [first] = files;
  const facts = first === undefined ? undefined : await stat(first).catch(() => undefined);
  if (facts?.isFile() !== true) throw usageError(`there is no audit log at ${path}`, "`koine serve --audit FILE` writes one.");
  return files;
}

async function verify(files: readonly string[], output: Output): Promise<void> {
  const result = await verifyAudit(readAuditLines(files));
  const { entries, torn, breaks, fromTheBeginning, head } = result;
  if (output.format === "json") await output.document({ ...result, files, whole: breaks.length === 0 });
  else {
    const start = fromTheBeginning ? "from the first line ever written" : "older lines were put aside and are gone";
    await output.text(`${entries} lines in ${files.length} ${files.length === 1 ? "file" : "files"}; ${start}\n`);
    if (torn > 0) await output.text(`${torn} lines cannot be read: cut off by a crash, or not written by Koine\n`);
    await output.text(`head ${head}\n`);
  }
  const [first] = breaks;
  if (first !== undefined)
    throw new CliError(
      EXIT.failure,
      `the chain is broken at ${breaks.length} places, first at ${first.file}, line ${first.line}`,
      {
        code: "audit_broken",
        hint: "A line before that one was removed, changed or added after it was written.",
      },
    );
}

function isWanted(entry: AuditEntry, { since, who, event }: AuditOptions): boolean {
  if (since !== undefined && !(Date.parse(entry.at) >= since)) return false;
  return (who === undefined || entry.who === who) && (event === undefined || entry.event === event);
}

async function write(entry: AuditEntry, output: Output): Promise<void> {
  if (output.format === "json") await output.line(entry);
  else await output.text(`${describe(entry)}\n`);
}

function describe({ at, event, who, scheme, what, code, reason, remote, traceId, agent, calls }: AuditEntry): string {
  const name = scheme === undefined ? who : `${who} (${scheme})`;
  const why = [code, reason].filter((each) => each !== undefined).join(": ");
  const facts = [
    remote === undefined ? "" : `from ${remote}`,
    agent === undefined ? "" : `agent ${agent}`,
    traceId === undefined ? "" : `trace ${traceId}`,
    calls === undefined ? "" : `${calls} calls`,
  ].filter((each) => each !== "");
  const rest = [`${name} ${what}`, why, ...facts].filter((each) => each !== "").join("; ");
  return `${oneLine(at, 30)}  ${oneLine(event, 20).padEnd(13)}  ${oneLine(rest, 4_000)}`;
}

/** Polling interval. File watching misses changes on network disks. */
const POLL_MS = 200;
const READ_BYTES = 64 * 1024;
/** Limit of a line. */
const MAX_LINE_CHARS = 128 * 1024;

/** Follows the newest file of a log from its beginning, through rotations. */
interface Tail {
  /** These files without the open one. */
  without(files: readonly string[]): Promise<readonly string[]>;
  /** Existing entries and later ones, until the signal aborts. */
  entries(signal: AbortSignal): AsyncGenerator<AuditEntry, void, void>;
  close(): Promise<void>;
}

async function openTail(path: string): Promise<Tail> {
  let reader = await openReader(path);

  /** False while the path is the open file, or does not exist. */
  async function wasReplaced(): Promise<boolean> {
    const there = await stat(path).catch(() => undefined);
    return there !== undefined && there.ino !== reader?.inode;
  }

  /** The file that follows the open one: there may have been several rotations. */
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
        // Lines written before the rotation come first.
        for await (const line of reader?.read() ?? []) {
          const entry = parseEntry(line);
          if (entry !== undefined) yield entry;
        }
        if (replaced) {
          const next = await nextFile();
          await reader?.close();
          reader = await openReader(next);
        } else await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
      }
    },
    close: async () => reader?.close(),
  };
}

/** Reads whole lines, and keeps an incomplete last one for the next read. */
class LineReader {
  readonly inode: number;
  readonly #handle: FileHandle;
  readonly #decoder = new TextDecoder();
  #offset = 0;
  #rest = "";

  constructor(handle: FileHandle, inode: number) {
    this.#handle = handle;
    this.inode = inode;
  }

  async *read(): AsyncGenerator<string, void, void> {
    const buffer = Buffer.alloc(READ_BYTES);
    for (;;) {
      const { bytesRead } = await this.#handle.read(buffer, 0, buffer.length, this.#offset);
      if (bytesRead === 0) return;
      this.#offset += bytesRead;
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
