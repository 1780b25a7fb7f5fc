import { readFile, stat } from "node:fs/promises";
import { AgentError } from "../../src/index.js";

/** Size limit: a document is read into memory as a whole. */
export const DOCUMENT_BYTES = 1024 * 1024;
const YAML_ALIASES = 100;

/** Path of a member from the root of the document. */
export type MemberPath = readonly (string | number)[];

/** `modules[2].env.NAME`; empty for the root. */
export function formatPath(path: MemberPath): string {
  return path.reduce<string>((before, part) => {
    if (typeof part === "number") return `${before}[${part}]`;
    return before === "" ? part : `${before}.${part}`;
  }, "");
}

/** Inverse of `formatPath`. */
export function parsePath(text: string): MemberPath {
  return [...text.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([word, index]) => (index === undefined ? word : Number(index)));
}

/** Reads a document file as text. Throws for files that are missing, unreadable or too large. */
export async function readDocument(file: string): Promise<string> {
  const facts = await stat(file).catch((thrown: NodeJS.ErrnoException) => {
    throw unreadable(file, thrown);
  });
  if (!facts.isFile()) throw new AgentError("invalid_message", `${file} is not a file`);
  if (facts.size > DOCUMENT_BYTES) throw new AgentError("too_large", `${file} is larger than ${DOCUMENT_BYTES / 1024} KiB`);
  return readFile(file, "utf8").catch((thrown: NodeJS.ErrnoException) => {
    throw unreadable(file, thrown);
  });
}

function unreadable(file: string, { code = "unknown reason" }: NodeJS.ErrnoException): AgentError {
  return new AgentError("not_found", `the file ${file} cannot be read (${code})`);
}

export interface Position {
  readonly line: number;
  readonly column: number;
}

/** A parsed document with the source position of every member. */
export interface LocatedDocument {
  readonly kind: "document";
  readonly value: unknown;
  /** Position of a member's value, or of its nearest existing ancestor. */
  positionOf(path: MemberPath): Position;
  /** Position of a member's key, which may be on the line above its value. */
  keyPositionOf(path: MemberPath): Position;
}

/** Why a text could not be parsed. The message continues a sentence that starts with the file name. */
export interface DocumentError {
  readonly kind: "error";
  readonly position: Position;
  readonly message: string;
}

/** Parser messages may quote the text, and the text may hold a secret. */
const QUOTED = /\s*:?\s*["'`].*$/s;
const START: Position = { line: 1, column: 1 };

/** The members of a parser node that are used here. */
interface Node {
  readonly range?: readonly number[] | null | undefined;
  readonly items?: readonly unknown[];
}
interface Pair {
  readonly key: Node & { readonly value?: unknown };
  readonly value: Node | null;
}

/** Parses JSON or YAML. */
export async function parseLocated(text: string): Promise<LocatedDocument | DocumentError> {
  if (text.length > DOCUMENT_BYTES) return errorAt(START, `is larger than ${DOCUMENT_BYTES / 1024} KiB`);
  const { LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, version: "1.2", schema: "core", prettyErrors: false });
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  // Later errors are mostly consequences of the first.
  const [first] = [...document.errors, ...document.warnings];
  if (first !== undefined)
    return errorAt(positionAt(first.pos[0]), `is not valid YAML: ${firstLine(first.message)}${hintFor(text, first.pos[0])}`);
  const plain = plainValue(() => document.toJS({ maxAliasCount: YAML_ALIASES }));
  if (plain === undefined) return errorAt(START, "expands too many YAML aliases, or references an unknown anchor");
  const root = document.contents as Node | null; // every member is checked before use
  const nearest = (path: MemberPath, startOf: (path: MemberPath) => number | undefined): Position => {
    for (let length = path.length; length >= 0; length--) {
      const start = startOf(path.slice(0, length));
      if (start !== undefined) return positionAt(start);
    }
    return START;
  };
  return {
    kind: "document",
    value: plain.value,
    positionOf: (path) => nearest(path, (each) => nodeAt(root, each)?.range?.[0]),
    keyPositionOf: (path) => nearest(path, (each) => nameAt(root, each) ?? nodeAt(root, each)?.range?.[0]),
  };
}

function errorAt(position: Position, message: string): DocumentError {
  return { kind: "error", position, message };
}

/** The most common mistake: an unquoted variable in flow syntax. */
function hintFor(text: string, offset: number): string {
  return text.slice(Math.max(0, offset - 1), offset + 1) === "${" ? ": quote variables inside braces" : "";
}

function firstLine(message: string): string {
  const [line = ""] = message.split("\n", 1);
  return line.replace(QUOTED, "");
}

function nameAt(root: Node | null, path: MemberPath): number | undefined {
  return pairIn(nodeAt(root, path.slice(0, -1)), path.at(-1))?.key.range?.[0];
}

function nodeAt(root: Node | null, path: MemberPath): Node | null | undefined {
  let node: Node | null | undefined = root;
  for (const part of path) node = typeof part === "number" ? asNode(node?.items?.[part]) : pairIn(node, part)?.value;
  return node;
}

function pairIn(node: Node | null | undefined, name: string | number | undefined): Pair | undefined {
  return node?.items?.find((item): item is Pair => isPair(item) && String(item.key.value) === String(name));
}

function isPair(item: unknown): item is Pair {
  return typeof item === "object" && item !== null && "key" in item && typeof item.key === "object" && item.key !== null;
}

function asNode(item: unknown): Node | undefined {
  return typeof item === "object" && item !== null ? item : undefined;
}

/** The parser throws a ReferenceError for too many aliases. */
function plainValue(read: () => unknown): { readonly value: unknown } | undefined {
  try {
    return { value: read() };
  } catch (thrown) {
    if (thrown instanceof ReferenceError) return undefined;
    throw thrown;
  }
}
