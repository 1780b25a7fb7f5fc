import type { MemberPath } from "./member-path.js";
import { DOCUMENT_BYTES } from "./read-document.js";

const YAML_ALIASES = 100;

export interface Spot {
  readonly line: number;
  readonly column: number;
}

/** A document whose members know their places. */
export interface PlacedDocument {
  readonly kind: "document";
  readonly value: unknown;
  /** Of a member's value, or of the nearest member around it that is there. */
  spotOf(path: MemberPath): Spot;
  /** The same of names, which may stand a line above their values. */
  nameSpotOf(path: MemberPath): Spot;
}

/** Why a text is no document; the message goes on from its name. */
export interface DocumentMistake {
  readonly kind: "mistake";
  readonly spot: Spot;
  readonly message: string;
}

/** What the parser says may quote the text, and that may be a secret. */
const QUOTED = /\s*:?\s*["'`].*$/s;
const START: Spot = { line: 1, column: 1 };

/** What of a node of the parser is needed here. */
interface Node {
  readonly range?: readonly number[] | null | undefined;
  readonly items?: readonly unknown[];
}
interface Pair {
  readonly key: Node & { readonly value?: unknown };
  readonly value: Node | null;
}

/** JSON or YAML, which contains it. */
export async function placedDocument(text: string): Promise<PlacedDocument | DocumentMistake> {
  if (text.length > DOCUMENT_BYTES) return mistake(START, `is larger than ${DOCUMENT_BYTES / 1024} KiB`);
  const { LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, version: "1.2", schema: "core", prettyErrors: false });
  const spotAt = (offset: number): Spot => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  // Only the first: what follows is mostly its echo.
  const [wrong] = [...document.errors, ...document.warnings];
  if (wrong !== undefined)
    return mistake(spotAt(wrong.pos[0]), `is no YAML: ${firstLine(wrong.message)}${hintFor(text, wrong.pos[0])}`);
  const plain = plainValue(() => document.toJS({ maxAliasCount: YAML_ALIASES }));
  if (plain === undefined) return mistake(START, "repeats its anchors too often, or names one that is missing");
  const root = document.contents as Node | null; // only ranges, items, keys and values are looked at, each with care
  const nearest = (path: MemberPath, startOf: (path: MemberPath) => number | undefined): Spot => {
    for (let length = path.length; length >= 0; length--) {
      const start = startOf(path.slice(0, length));
      if (start !== undefined) return spotAt(start);
    }
    return START;
  };
  return {
    kind: "document",
    value: plain.value,
    spotOf: (path) => nearest(path, (each) => nodeAt(root, each)?.range?.[0]),
    nameSpotOf: (path) => nearest(path, (each) => nameAt(root, each) ?? nodeAt(root, each)?.range?.[0]),
  };
}

function mistake(spot: Spot, message: string): DocumentMistake {
  return { kind: "mistake", spot, message };
}

/** The mistake that everybody makes once. */
function hintFor(text: string, offset: number): string {
  return text.slice(Math.max(0, offset - 1), offset + 1) === "${" ? ": inside braces a variable stands in quotes" : "";
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

/** The library tells of too many repetitions by a ReferenceError. */
function plainValue(read: () => unknown): { readonly value: unknown } | undefined {
  try {
    return { value: read() };
  } catch (thrown) {
    if (thrown instanceof ReferenceError) return undefined;
    throw thrown;
  }
}
