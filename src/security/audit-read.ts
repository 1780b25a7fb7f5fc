import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Maybe } from "../envelope/index.js";
import { type AuditEntry, CHAIN_START, digestOfLine, parseEntry } from "./audit-entry.js";

/** One line as it was read. */
export interface AuditLine {
  readonly file: string;
  readonly number: number;
  readonly bytes: Uint8Array;
  /** Undefined for a line that was torn, or is none of ours. */
  readonly entry: Maybe<AuditEntry & { readonly prev: string }>;
}

/** What the chain of a log shows. */
export interface AuditVerification {
  readonly entries: number;
  /** Lines that cannot be read: cut by a crash, or written by somebody else. */
  readonly torn: number;
  /** The first lines that do not follow the one before them: something was removed, changed or put in between. */
  readonly breaks: readonly { readonly file: string; readonly line: number }[];
  /** False when the oldest kept line had others before it. */
  readonly fromTheBeginning: boolean;
  /** The digest of the last line. Kept elsewhere, it also shows that lines are missing at the end. */
  readonly head: string;
}

const MAX_LINE_BYTES = 64 * 1024;
const MAX_BREAKS = 100;
const NEW_LINE = 0x0a;

/** The files of a log, the oldest first: what was put aside has a number behind its name. */
export async function auditFiles(path: string): Promise<readonly string[]> {
  const name = basename(path);
  const names = await readdir(dirname(path));
  const aside = names.flatMap((each) => {
    const number = each.startsWith(`${name}.`) ? Number(each.slice(name.length + 1)) : Number.NaN;
    return Number.isInteger(number) && number > 0 ? [{ number, each }] : [];
  });
  aside.sort((a, b) => b.number - a.number);
  const all = [...aside.map(({ each }) => each), ...(names.includes(name) ? [name] : [])];
  return all.map((each) => join(dirname(path), each));
}

/** Every line of a log in the order it was written. A last line without an end is read as it is. */
export async function* readAuditLines(files: readonly string[]): AsyncGenerator<AuditLine, void, void> {
  for (const file of files) {
    let number = 0;
    for await (const bytes of splitLines(createReadStream(file))) {
      number++;
      yield { file, number, bytes, entry: parseEntry(Buffer.from(bytes).toString("utf8")) };
    }
  }
}

/** A line longer than any of ours is passed on in pieces, none of which can be read: nothing grows with it. */
export async function* splitLines(chunks: AsyncIterable<Buffer | string>): AsyncGenerator<Uint8Array, void, void> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, Buffer.from(chunk)]);
    for (let end = rest.indexOf(NEW_LINE); end !== -1; end = rest.indexOf(NEW_LINE)) {
      if (end > 0) yield rest.subarray(0, end);
      rest = rest.subarray(end + 1);
    }
    if (rest.length > MAX_LINE_BYTES) {
      yield rest;
      rest = Buffer.alloc(0);
    }
  }
  if (rest.length > 0) yield rest;
}

/** Follows the chain through all lines. */
export async function verifyAudit(lines: AsyncIterable<AuditLine>): Promise<AuditVerification> {
  const breaks: { readonly file: string; readonly line: number }[] = [];
  let entries = 0;
  let torn = 0;
  let head: Maybe<string>;
  let fromTheBeginning = false;
  for await (const { file, number, bytes, entry } of lines) {
    if (entry === undefined) {
      torn++;
      continue;
    }
    if (head === undefined) fromTheBeginning = entry.prev === CHAIN_START;
    else if (entry.prev !== head && breaks.length < MAX_BREAKS) breaks.push({ file, line: number });
    head = digestOfLine(bytes);
    entries++;
  }
  return { entries, torn, breaks, fromTheBeginning, head: head ?? CHAIN_START };
}
