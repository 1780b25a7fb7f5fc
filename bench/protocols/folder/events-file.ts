import { closeSync, createReadStream, openSync, truncateSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";
import type { z } from "zod";
import { BENCH_EVENT, type BenchEvent } from "../result/index.js";
import { otherVersion } from "./version.js";

/** Written at once, or after so long; a killed benchmark loses at most so much. */
const BUFFER_CHARS = 64 * 1024;
const BUFFER_MS = 500;

/** The disk did not take what was measured. */
export class WriteError extends Error {}

/** Appends events to a file. Throws WriteError with the reason if the disk does not take them. */
export class EventsFile {
  readonly #path: string;
  readonly #file: number;
  #buffer = "";
  #flushedAt = 0;

  constructor(path: string) {
    this.#path = path;
    this.#file = openSync(path, "a");
  }

  add(event: object): void {
    this.#buffer += `${JSON.stringify(event)}\n`;
    if (this.#buffer.length >= BUFFER_CHARS || performance.now() - this.#flushedAt > BUFFER_MS) this.flush();
  }

  flush(): void {
    let bytes = Buffer.from(this.#buffer);
    this.#buffer = "";
    this.#flushedAt = performance.now();
    try {
      while (bytes.length > 0) bytes = bytes.subarray(writeSync(this.#file, bytes));
    } catch (thrown) {
      throw new WriteError(`cannot write ${this.#path}: ${reasonOf(thrown)}`);
    }
  }

  close(): void {
    try {
      this.flush();
    } finally {
      closeSync(this.#file);
    }
  }
}

function reasonOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  if (code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG")
    return "no space left on the disk; free some, then go on with --resume";
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The events of a file, and what is wrong with its last line if it was cut off. */
export interface ReadEvents<Event = BenchEvent> {
  readonly events: readonly Event[];
  /** Bytes up to the end of the last whole line. */
  readonly wholeBytes: number;
  readonly cut: boolean;
}

/** Throws Error with file and line for a line that is no event. A last line without an end is left out. */
export function readEvents(path: string): Promise<ReadEvents> {
  return readEventsOf(path, BENCH_EVENT);
}

/** The same for the events of another scenario. */
export async function readEventsOf<Event>(path: string, schema: z.ZodType<Event>): Promise<ReadEvents<Event>> {
  const events: Event[] = [];
  let wholeBytes = 0;
  let line = 0;
  let last: string | undefined;
  const take = (text: string): void => {
    line++;
    events.push(parseEvent(text, `${path}:${line}`, schema));
    wholeBytes += Buffer.byteLength(text) + 1;
  };
  let size = 0;
  const stream = createReadStream(path).on("data", (chunk) => {
    size += chunk.length;
  });
  for await (const text of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (last !== undefined) take(last);
    last = text;
  }
  if (last === undefined) return { events, wholeBytes, cut: false };
  // Without a line end the line was being written when the benchmark was killed.
  const cut = wholeBytes + Buffer.byteLength(last) === size;
  if (!cut) take(last);
  return { events, wholeBytes, cut };
}

function parseEvent<Event>(text: string, where: string, schema: z.ZodType<Event>): Event {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error(`${where}: not JSON`);
  }
  const old = typeof value === "object" && value !== null && "plan" in value ? otherVersion(value.plan) : undefined;
  if (old !== undefined) throw new Error(`${where}: the plan ${old}`);
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new Error(`${where}: no event of this benchmark: ${issue?.path.join(".") || "type"}: ${issue?.message}`);
}

/** Removes a last line that was cut off. */
export function dropCutLine(path: string, { wholeBytes, cut }: Pick<ReadEvents, "wholeBytes" | "cut">): void {
  if (cut) truncateSync(path, wholeBytes);
}
