import { type EntrySource, readEntries } from "../../bench/protocols/index.js";
import { usageError } from "./exit.js";

/** The entries of a queue, and how many of them are used. */
export interface QueueEntries {
  readonly source: EntrySource;
  readonly count: number;
}

export interface EntriesChoice {
  readonly data: string | undefined;
  /** Undefined: all of a file up to the default. */
  readonly wanted: number | undefined;
  readonly fallback: number;
  readonly seed: number;
}

/** Reads a file of entries once before anything is started, so that a wrong line is reported at once. */
export function queueEntries({ data, wanted, fallback, seed }: EntriesChoice): QueueEntries {
  const count = wanted ?? fallback;
  if (data === undefined) return { source: { kind: "generated", count, seed }, count };
  const source: EntrySource = { kind: "file", path: data };
  let found: number;
  try {
    found = readEntries(source).length;
  } catch (thrown) {
    throw usageError(thrown instanceof Error ? thrown.message : String(thrown));
  }
  if (wanted !== undefined && wanted > found) throw usageError(`${data} has ${found} entries, fewer than --requests ${wanted}`);
  return { source, count: Math.min(count, found) };
}
