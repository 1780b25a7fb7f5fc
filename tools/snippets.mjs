// Reads the TypeScript snippets of a page.
//
//   <!-- snippet: continues -->     the next block goes on where the block before it ended
//   <!-- snippet: skip REASON -->   the next block is not compiled
import { readFileSync } from "node:fs";

const BLOCK = /(?:<!-- snippet: (continues|skip [^>]+?) -->\s*)?^```ts\n([\s\S]*?)^```/gm;

/** Each compiled file: its lines, and where each of them stands. */
export function snippetsOf(page) {
  const text = readFileSync(page, "utf8");
  const snippets = [];
  for (const match of text.matchAll(BLOCK)) {
    const [whole, mark = "", body] = match;
    if (mark.startsWith("skip")) continue;
    const first = text.slice(0, match.index + whole.indexOf("```ts\n")).split("\n").length + 1;
    const lines = body.split("\n").map((code, index) => ({ code, at: `${page}:${first + index}` }));
    const previous = snippets.at(-1);
    if (mark !== "continues") snippets.push(lines);
    else if (previous === undefined) throw new Error(`${page}:${first} continues nothing`);
    else snippets[snippets.length - 1] = [...previous, ...lines];
  }
  return snippets;
}
