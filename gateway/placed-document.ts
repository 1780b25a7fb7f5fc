import { AgentError } from "../src/index.js";
import type { Complaints, ConfigPath } from "./config-problem.js";

/** A configuration may be this long; it is read whole. */
export const CONFIG_BYTES = 1024 * 1024;
const YAML_ALIASES = 100;

export interface Spot {
  readonly line: number;
  readonly column: number;
}

/** A document whose members know their places. */
export interface PlacedDocument {
  readonly value: unknown;
  /** Of a member's value, or of the nearest member around it that is there. */
  spotOf(path: ConfigPath): Spot;
  /** Of a member's name. */
  nameSpotOf(path: ConfigPath): Spot;
}

/** What the parser says may quote the text, and that may be a secret. */
const QUOTED = /\s*:?\s*(["'`]).*\1?.*$/s;
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

/** JSON or YAML, which contains it. Mistakes of the text itself go to `complain`, by their places; then there is no document. */
export async function placedDocument(
  text: string,
  complain: (spot: Spot, message: string) => void,
): Promise<PlacedDocument | undefined> {
  if (text.length > CONFIG_BYTES) {
    complain(START, `is larger than ${CONFIG_BYTES / 1024} KiB`);
    return undefined;
  }
  const { LineCounter, parseDocument } = await import("yaml");
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, version: "1.2", schema: "core", prettyErrors: false });
  const spotAt = (offset: number): Spot => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  // Only the first: what follows is mostly its echo.
  const [mistake] = [...document.errors, ...document.warnings];
  if (mistake !== undefined) {
    complain(spotAt(mistake.pos[0]), `is no YAML: ${firstLine(mistake.message)}${hintFor(text, mistake.pos[0])}`);
    return undefined;
  }
  const root = document.contents as Node | null; // only ranges, items, keys and values are looked at, each with care
  return {
    value: plainValue(() => document.toJS({ maxAliasCount: YAML_ALIASES })),
    spotOf(path) {
      const found = nearest(root, path);
      return found === undefined ? START : spotAt(found);
    },
    nameSpotOf(path) {
      const holder = nodeAt(root, path.slice(0, -1));
      const start = pairIn(holder, path.at(-1))?.key.range?.[0] ?? nearest(root, path);
      return start === undefined ? START : spotAt(start);
    },
  };
}

/** The mistake that everybody makes once. */
function hintFor(text: string, offset: number): string {
  return text.slice(Math.max(0, offset - 1), offset + 1) === "${" ? ": inside braces a variable stands in quotes" : "";
}

function firstLine(message: string): string {
  const [line = ""] = message.split("\n", 1);
  return line.replace(QUOTED, "");
}

function nearest(root: Node | null, path: ConfigPath): number | undefined {
  for (let length = path.length; length >= 0; length--) {
    const start = nodeAt(root, path.slice(0, length))?.range?.[0];
    if (start !== undefined) return start;
  }
  return undefined;
}

function nodeAt(root: Node | null, path: ConfigPath): Node | null | undefined {
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
function plainValue(read: () => unknown): unknown {
  try {
    return read();
  } catch (thrown) {
    if (thrown instanceof ReferenceError) throw new AgentError("decode", "its anchors are repeated too often, or missing");
    throw thrown;
  }
}

const WHOLE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}$/;
const SOMEWHERE = /\$\{[A-Za-z_]/;

export interface Substituted {
  readonly value: unknown;
  /** The members whose values came from the environment: these are never shown. */
  readonly fromEnvironment: ReadonlySet<string>;
}

/** `${NAME}` and `${NAME:-default}` as whole values. What stands there is read as the file would be: 8080 is a number. */
export function fromEnvironment(value: unknown, env: NodeJS.ProcessEnv, complaints: Complaints): Substituted {
  const found = new Set<string>();
  const walk = (at: unknown, path: ConfigPath): unknown => {
    if (typeof at === "string") return substitute(at, path);
    if (Array.isArray(at)) return at.map((each, index) => walk(each, [...path, index]));
    if (typeof at !== "object" || at === null) return at;
    return Object.fromEntries(Object.entries(at).map(([name, each]) => [name, walk(each, [...path, name])]));
  };
  const substitute = (text: string, path: ConfigPath): unknown => {
    const match = WHOLE.exec(text);
    if (match === null) {
      if (SOMEWHERE.test(text))
        complaints.add(path, "names a variable inside a longer text: only a whole value comes from the environment");
      return text;
    }
    const [, name = "", fallback] = match;
    const given = env[name];
    const taken = given === undefined || given === "" ? fallback : given;
    found.add(JSON.stringify(path));
    if (taken === undefined) complaints.add(path, `comes from the environment variable ${name}, which is not set`);
    return taken === undefined ? undefined : scalarOf(taken);
  };
  return { value: walk(value, []), fromEnvironment: found };
}

function scalarOf(text: string): string | number | boolean {
  if (text === "true" || text === "false") return text === "true";
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(text) ? Number(text) : text;
}
