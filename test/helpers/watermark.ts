import { open, stat } from "node:fs/promises";
import { ByteSearch, searchMemory } from "../../bench/protocols/safety/wire/process-memory.js";
import { type Needle, needlesOf } from "../../bench/protocols/safety/wire/search.js";

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

/** A text that occurs nowhere else. ASCII, so that every encoding of it is known. */
export class Watermark {
  readonly text: string;
  readonly #needles: readonly Needle<Form>[];

  constructor(text: string) {
    if (!/^[\x21-\x7e]{16,}$/.test(text)) throw new Error("a watermark is at least 16 visible characters of ASCII");
    this.text = text;
    this.#needles = needlesFor(text);
  }

  /** The memory of a process, which is stopped meanwhile so that nothing moves behind the search. */
  inMemory(pid: number): Promise<Sightings> {
    return searchMemory(pid, this.#needles);
  }

  async inFiles(paths: readonly string[], windowBytes?: number): Promise<Sightings> {
    const search = new ByteSearch(this.#needles, windowBytes);
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

/** Those of the security probes. A watermark is the same in a URL, or percent-encoded by nobody. */
function needlesFor(text: string): readonly Needle<Form>[] {
  return needlesOf(text).flatMap(({ form, bytes }) =>
    form === "url" || form === "gzip" ? [] : [{ form: form === "raw" ? "utf-8" : form, bytes }],
  );
}
