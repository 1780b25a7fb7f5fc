import { z } from "zod";
import type { Entry } from "./entry.js";

/** Limits of a file of entries. */
export const ENTRY_LIMITS = { bytes: 64 * 1024 * 1024, entries: 100_000, textChars: 16_384 } as const;

const id = z.union([z.string().min(1).max(200), z.number()]);
const text = z.string().trim().min(1).max(ENTRY_LIMITS.textChars);
/** The two ways in which MS MARCO is commonly cut into lines. Other members are ignored. */
const LINE = z.union([
  z.object({ id, q: text }).transform((line): Entry => ({ id: String(line.id), text: line.q })),
  z.object({ query_id: id, query: text }).transform((line): Entry => ({ id: String(line.query_id), text: line.query })),
]);

/** The entries of a file, one JSON object per line. Throws Error with file and line for a line that is none. */
export function parseEntries(content: string, file: string): readonly Entry[] {
  const entries: Entry[] = [];
  const lines = new Map<string, number>();
  for (const [index, line] of content.split("\n").entries()) {
    if (line.trim() === "") continue;
    const where = `${file}:${index + 1}`;
    const entry = parseLine(line, where);
    const before = lines.get(entry.id);
    if (before !== undefined) throw new Error(`${where}: the id ${entry.id} is that of line ${before}`);
    if (entries.length >= ENTRY_LIMITS.entries) throw new Error(`${where}: more than ${ENTRY_LIMITS.entries} entries`);
    lines.set(entry.id, index + 1);
    entries.push(entry);
  }
  if (entries.length === 0) throw new Error(`${file} has no entries`);
  return entries;
}

function parseLine(line: string, where: string): Entry {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new Error(`${where}: not JSON`);
  }
  const read = LINE.safeParse(value);
  if (read.success) return read.data;
  throw new Error(
    `${where}: an entry has id and q, or query_id and query; the text is 1 to ${ENTRY_LIMITS.textChars} characters`,
  );
}
