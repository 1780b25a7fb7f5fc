import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { Maybe } from "../envelope/index.js";
import { type AuditEntry, CHAIN_START, digestOfLine, parseEntry } from "./audit-entry.js";

/** One line of the log. */
export interface AuditLine {
  readonly file: string;
  readonly number: number;
  readonly bytes: Uint8Array;
  /** Undefined if the line is torn or not an audit entry. */
  readonly entry: Maybe<AuditEntry & { readonly prev: string }>;
}

/** The result of verifying the chain. */
export interface AuditVerification {
  readonly entries: number;
  /** Unreadable lines: cut by a crash, or written by another program. */
  readonly torn: number;
  /** The first lines that do not follow their predecessor: lines were removed, changed or inserted. */
  readonly breaks: readonly { readonly file: string; readonly line: number }[];
  /** False if lines before the oldest kept one are missing. */
  readonly fromTheBeginning: boolean;
  /** The digest of the last line. Stored elsewhere, it also reveals missing lines at the end. */
  readonly head: string;
}

const MAX_LINE_BYTES = 64 * 1024;
const MAX_BREAKS = 100;
const NEW_LINE = 0x0a;

/** The files of a log, oldest first; rotated files have a numeric suffix. */
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

/** Every line of a log in order. A last line without line end is included. */
export async function* readAuditLines(files: readonly string[]): AsyncGenerator<AuditLine, void, void> {
  for (const file of files) {
    let number = 0;
    for await (const bytes of splitLines(createReadStream(file))) {
      number++;
      yield { file, number, bytes, entry: parseEntry(Buffer.from(bytes).toString("utf8")) };
    }
  }
}

/** Splits into lines. Overlong lines are passed on in pieces that cannot be parsed, so memory stays bounded. */
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

/** Verifies the chain over all lines. */
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
