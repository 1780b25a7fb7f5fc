import type { Json } from "../../envelope/index.js";

/** Characters that could end a block or hide text: angle brackets, control and format characters, line separators. */
const ESCAPED = /[<>\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Untrusted text for a prompt: one line of JSON between tags that the text cannot imitate. */
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
