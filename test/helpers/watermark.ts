import { type FileHandle, open, readFile, stat } from "node:fs/promises";

/**
 * Searches what a process holds for a text that only some processes may know: its memory, and files it writes. Memory is read from
 * `/proc/PID/mem`, because heap snapshots omit buffers. A search that finds nothing counts only where the same search finds the
 * text in a process that must hold it.
 */

export type Form = "utf-8" | "utf-16" | "base64" | "hex";

export interface Sightings {
  /** Each form in which the text occurs. */
  readonly forms: ReadonlySet<Form>;
  /** How much was searched. */
  readonly bytes: number;
}

/** The window that is held in memory while a process is searched. */
const WINDOW_BYTES = 4 * 1024 * 1024;
/** Above it a search fails, instead of skipping something. */
const MOST_BYTES = 8 * 1024 ** 3;

interface Needle {
  readonly form: Form;
  readonly bytes: Buffer;
}

/** A text that occurs nowhere else. ASCII, so that every encoding of it is known. */
export class Watermark {
  readonly text: string;
  readonly #needles: readonly Needle[];

  constructor(text: string) {
    if (!/^[\x21-\x7e]{16,}$/.test(text)) throw new Error("a watermark is at least 16 visible characters of ASCII");
    this.text = text;
    this.#needles = needlesOf(text);
  }

  /** The memory of a process, which is stopped meanwhile so that nothing moves behind the search. */
  async inMemory(pid: number): Promise<Sightings> {
    process.kill(pid, "SIGSTOP");
    try {
      const regions = regionsIn(await readFile(`/proc/${pid}/smaps`, "latin1"));
      const memory = await open(`/proc/${pid}/mem`, "r");
      try {
        const search = new Search(this.#needles);
        for (const { from, to } of regions) await search.range(memory, from, to);
        return search;
      } finally {
        await memory.close();
      }
    } finally {
      process.kill(pid, "SIGCONT");
    }
  }

  async inFiles(paths: readonly string[], windowBytes = WINDOW_BYTES): Promise<Sightings> {
    const search = new Search(this.#needles, windowBytes);
    for (const path of paths) {
      const file = await open(path, "r");
      try {
        await search.range(file, 0, (await stat(path)).size);
      } finally {
        await file.close();
      }
    }
    return search;
  }

  inText(text: string): Sightings {
    const bytes = Buffer.from(text);
    return {
      forms: new Set(this.#needles.filter((each) => bytes.includes(each.bytes)).map(({ form }) => form)),
      bytes: bytes.length,
    };
  }
}

function needlesOf(text: string): readonly Needle[] {
  const plain = Buffer.from(text, "latin1");
  const hex = plain.toString("hex");
  const encoded: readonly (readonly [Form, string])[] = [
    ["utf-8", text],
    ...base64sOf(plain).map((each) => ["base64", each] as const),
    ["hex", hex],
    ["hex", hex.toUpperCase()],
  ];
  return [
    ...encoded.map(([form, each]) => ({ form, bytes: Buffer.from(each, "latin1") })),
    { form: "utf-16", bytes: Buffer.from(text, "utf16le") },
  ];
}

/** What is the same whatever surrounds the bytes: for each of the three places in a group of three bytes, in both alphabets. */
function base64sOf(plain: Buffer): readonly string[] {
  const standard = [0, 1, 2].map((before) => {
    const characters = Buffer.concat([Buffer.alloc(before), plain]).toString("base64");
    return characters.slice(Math.ceil((before * 8) / 6), Math.floor(((before + plain.length) * 8) / 6));
  });
  const urlSafe = standard.map((each) => each.replaceAll("+", "-").replaceAll("/", "_"));
  return [...new Set([...standard, ...urlSafe])];
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

/** Looks through a window of fixed size that moves over everything, with an overlap as long as the longest needle. */
class Search implements Sightings {
  readonly forms = new Set<Form>();
  bytes = 0;
  readonly #needles: readonly Needle[];
  readonly #window: Buffer;
  readonly #overlap: number;

  constructor(needles: readonly Needle[], windowBytes = WINDOW_BYTES) {
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
