import { isObject, type Json } from "../../../envelope/index.js";

/**
 * JSON as Python writes it with sorted keys and without spaces, which is what the SDK signs: like RFC 8785, but with every character
 * beyond ASCII escaped. Numbers are written as JavaScript does, so a fraction such as 1.0 differs; no message has one.
 */
export function pythonJson(value: Json): string {
  // Python escapes the character 127 too.
  return textOf(value).replace(/[\u007f-\uffff]/g, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

function textOf(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(textOf).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  // UTF-8 keeps the order of code points, which is Python's.
  const names = Object.keys(value).sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  return `{${names.map((name) => `${JSON.stringify(name)}:${textOf(value[name] ?? null)}`).join(",")}}`;
}
