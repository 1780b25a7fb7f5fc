import type { LineCounter, ParsedNode } from "yaml";
import type { Maybe } from "../../envelope/index.js";
import { YAML_CHARACTERS } from "./limits.js";

/** The line of a path such as `scenarios[2].modules[0].text` in a text, or of the deepest part of it that is there. */
export type Lines = (path: string) => Maybe<number>;

/** Lines of the members of a JSON or YAML text that was parsed before. Undefined for a text that is too long for it. */
export async function linesIn(text: string): Promise<Maybe<Lines>> {
  if (text.length > YAML_CHARACTERS) return undefined;
  const { isMap, isSeq, LineCounter, parseAllDocuments } = await import("yaml");
  const lines = new LineCounter();
  const parsed = parseAllDocuments<ParsedNode>(text, { version: "1.2", schema: "core", lineCounter: lines });
  const roots = Array.isArray(parsed) ? parsed.map(({ contents }) => contents) : [];

  function inside(node: Maybe<ParsedNode | null>, step: string | number): Maybe<Found> {
    if (typeof step === "number") {
      const item = isSeq(node) ? (node.items[step] as Maybe<ParsedNode>) : undefined; // parsed nodes hold parsed nodes
      return item && { node: item, line: lineOf(item, lines) };
    }
    const pair = isMap(node) ? node.items.find(({ key }) => String(key) === step) : undefined;
    const key = pair?.key as Maybe<ParsedNode>; // parsed nodes hold parsed nodes
    return key && { node: pair?.value as Maybe<ParsedNode>, line: lineOf(key, lines) };
  }

  return (path) => {
    const steps = stepsOf(path);
    // Several documents are read as a list of them.
    const [first] = steps;
    const several = roots.length > 1 && typeof first === "number";
    const root = several ? roots[first] : roots[0];
    let found: Maybe<Found> = root ? { node: root, line: lineOf(root, lines) } : undefined;
    let line = found?.line;
    for (const step of several ? steps.slice(1) : steps) {
      found = inside(found?.node, step);
      if (found === undefined) return line;
      line = found.line;
    }
    return line;
  };
}

interface Found {
  readonly node: Maybe<ParsedNode | null>;
  readonly line: number;
}

function lineOf({ range }: ParsedNode, lines: LineCounter): number {
  return lines.linePos(range[0]).line;
}

function stepsOf(path: string): readonly (string | number)[] {
  return Array.from(path.matchAll(/\[(\d+)\]|([^.[\]]+)/gu), ([, index, name = ""]) =>
    index === undefined ? name : Number(index),
  );
}
