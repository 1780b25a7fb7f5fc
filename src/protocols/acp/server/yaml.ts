import { isObject, type Json, type JsonObject } from "../../../envelope/index.js";

/** A JSON object as YAML in block style. Every string is quoted as in JSON, which YAML 1.2 reads the same. */
export function formatYaml(value: JsonObject): string {
  return `${block(value, "").trimStart()}\n`;
}

/** The value of a key or list item: a scalar on the same line, or a nested block. */
function block(value: Json, indent: string): string {
  const lines = isObject(value)
    ? Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${block(member ?? null, `${indent}  `)}`)
    : Array.isArray(value)
      ? value.map((item: Json) => `-${block(item, `${indent}  `)}`)
      : [];
  if (lines.length === 0) return ` ${JSON.stringify(value)}`;
  return lines.map((line) => `\n${indent}${line}`).join("");
}
