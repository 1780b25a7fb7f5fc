import type { Maybe } from "../../envelope/index.js";

/** Strings, and the characters that structure objects and arrays. */
const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g;

/**
 * The first member that an object has twice. `JSON.parse` keeps the last one, other readers the first: signer and verifier would see
 * different documents. The text must be valid JSON.
 */
export function repeatedMember(json: string): Maybe<string> {
  const open: Maybe<Set<string>>[] = [];
  let last = "";
  for (const [token] of json.matchAll(TOKENS)) {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(undefined);
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":") {
      const name = JSON.parse(last) as string; // a string token of valid JSON
      const names = open.at(-1);
      if (names?.has(name) === true) return name;
      names?.add(name);
    }
    last = token;
  }
  return undefined;
}
