import type { Maybe } from "../../../envelope/index.js";

/** The metadata in the first lines of a document. */
export interface FrontMatter {
  readonly name: string;
  readonly description: string;
  /** A task needs several messages. */
  readonly multiround: boolean;
}

const FENCE = "---";
/** Limit of characters per value; longer values are truncated. */
const VALUE_LENGTH = 1_000;
/** The defaults of the Python library. */
const DEFAULTS: FrontMatter = Object.freeze({
  name: "Unnamed protocol",
  description: "No description provided",
  multiround: false,
});
/** The truthy values of YAML 1.1, as the Python library reads them. */
const YES: ReadonlySet<string> = new Set(["true", "yes", "on"]);

/**
 * Reads the `key: value` lines between the first and the second `---`, wherever they are, as the Python library does. Documents
 * without them get the library's defaults. Of YAML it supports only quotes, comments and indented continuation lines.
 */
export function readFrontMatter(text: string): FrontMatter {
  const open = text.indexOf(FENCE);
  const close = open === -1 ? -1 : text.indexOf(FENCE, open + FENCE.length);
  if (close === -1) return DEFAULTS;
  const values = readLines(text.slice(open + FENCE.length, close).split(/\r\n|\n|\r/));
  return {
    name: values.get("name") || DEFAULTS.name,
    description: values.get("description") || DEFAULTS.description,
    multiround: YES.has((values.get("multiround") ?? "").toLowerCase()),
  };
}

function readLines(lines: readonly string[]): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const [index, line] of lines.entries()) {
    const key = /^([A-Za-z_][\w-]*)\s*:(?=\s|$)/.exec(line);
    if (key?.[1] === undefined || values.has(key[1])) continue;
    const written = line.slice(key[0].length).trim();
    const block = /^[>|][+-]?$/.test(written) ? indentedBelow(lines, index) : undefined;
    values.set(key[1], (block ?? scalarIn(written)).slice(0, VALUE_LENGTH));
  }
  return values;
}

/** Joins continuation lines with the line above them. */
function indentedBelow(lines: readonly string[], above: number): Maybe<string> {
  const below = lines.slice(above + 1);
  const end = below.findIndex((line) => !/^\s/.test(line) && line !== "");
  const text = (end === -1 ? below : below.slice(0, end)).map((line) => line.trim()).join(" ");
  return text.trim();
}

/** The value of a line: quoted, or bare up to a comment. */
function scalarIn(value: string): string {
  const double = /^"((?:[^"\\]|\\.)*)"/.exec(value)?.[1];
  if (double !== undefined) return double.replaceAll(/\\(.)/g, unescaped);
  const single = /^'((?:[^']|'')*)'/.exec(value)?.[1];
  if (single !== undefined) return single.replaceAll("''", "'");
  // A pattern anchored at the end would backtrack at every mark.
  const comment = value.search(/(?:^|\s)#/);
  return (comment === -1 ? value : value.slice(0, comment)).trim();
}

function unescaped(_whole: string, letter: string): string {
  if (letter === "n") return "\n";
  return letter === "t" ? "\t" : letter;
}
