import { type FileHandle, open, readFile } from "node:fs/promises";
import type { Needle } from "./search.js";

const WINDOW_BYTES = 4 * 1024 * 1024;
/** Above it a search fails, instead of skipping something. */
const MOST_BYTES = 8 * 1024 ** 3;

/**
 * Searches the memory of a process for a text, in `/proc/PID/mem`: heap snapshots omit buffers. A search that finds nothing counts
 * only where the same search finds the text in a process that must hold it. The process is stopped meanwhile, so that nothing moves
 * behind the search. Throws where its memory may not be read.
 */
export async function searchMemory<Name extends string>(
  pid: number,
  needles: readonly Needle<Name>[],
): Promise<ByteSearch<Name>> {
  process.kill(pid, "SIGSTOP");
  try {
    const regions = regionsIn(await readFile(`/proc/${pid}/smaps`, "latin1"));
    const memory = await open(`/proc/${pid}/mem`, "r");
    try {
      const search = new ByteSearch(needles);
      for (const { from, to } of regions) await search.range(memory, from, to);
      return search;
    } finally {
      await memory.close();
    }
  } finally {
    process.kill(pid, "SIGCONT");
  }
}

interface Region {
  readonly from: number;
  readonly to: number;
}

const HEADER = /^([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \d+ *(.*)$/;

/** Everything readable that the process has touched, without the read-only pages of programs and libraries. */
function regionsIn(smaps: string): readonly Region[] {
  const regions: Region[] = [];
  let current: Region | undefined;
  for (const line of smaps.split("\n")) {
    const [, from, to, mode = "", path = ""] = HEADER.exec(line) ?? [];
    if (from !== undefined && to !== undefined) {
      const wanted = mode[0] === "r" && (mode[1] === "w" || path === "") && !/^\[v(var|syscall|dso)/.test(path);
      current = wanted ? { from: Number.parseInt(from, 16), to: Number.parseInt(to, 16) } : undefined;
    } else if (current !== undefined && /^(Rss|Swap): +[1-9]/.test(line)) {
      regions.push(current);
      current = undefined;
    }
  }
  return regions;
}

/** A window that moves over everything, with an overlap as long as the longest form of the text. */
export class ByteSearch<Name extends string> {
  /** Each form in which the text occurs. */
  readonly forms = new Set<Name>();
  /** How much was searched. */
  bytes = 0;
  readonly #needles: readonly Needle<Name>[];
  readonly #window: Buffer;
  readonly #overlap: number;

  constructor(needles: readonly Needle<Name>[], windowBytes = WINDOW_BYTES) {
    this.#needles = needles;
    this.#overlap = Math.max(...needles.map(({ bytes }) => bytes.length)) - 1;
    this.#window = Buffer.alloc(windowBytes + this.#overlap);
  }

  async range(file: FileHandle, from: number, to: number): Promise<void> {
    let kept = 0;
    for (let at = from; at < to; ) {
      const { bytesRead } = await file.read(this.#window, kept, Math.min(to - at, this.#window.length - kept), at);
      if (bytesRead === 0) throw new Error(`nothing could be read at ${at.toString(16)}`);
      const held = this.#window.subarray(0, kept + bytesRead);
      for (const { form, bytes } of this.#needles) if (!this.forms.has(form) && held.includes(bytes)) this.forms.add(form);
      at += bytesRead;
      this.bytes += bytesRead;
      if (this.bytes > MOST_BYTES) throw new Error(`more than ${MOST_BYTES} bytes to search`);
      kept = Math.min(this.#overlap, held.length);
      held.copy(this.#window, 0, held.length - kept);
    }
  }
}
