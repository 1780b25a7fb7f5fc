import type { Json } from "../../envelope/index.js";

/** What could end a block, begin a line, or not be seen: angle brackets, control and format characters, separators of lines. */
const ESCAPED = /[<>\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Somebody else's words for a prompt: one line of JSON between two marks that no wording within can imitate. */
export function dataBlock(mark: string, data: Json): string {
  return `<${mark}>\n${JSON.stringify(data).replace(ESCAPED, escapeUnits)}\n</${mark}>`;
}

/** Characters beyond the first plane are two units, and JSON escapes each on its own. */
function escapeUnits(character: string): string {
  return character
    .split("")
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
    .join("");
}
