import { AgentError } from "./error.js";
import type { Part } from "./part.js";

/** What a part weighs: UTF-8 bytes of text, of data written as JSON, of the address; raw bytes as they are. */
export function partBytes(part: Part): number {
  switch (part.kind) {
    case "text":
      return utf8Bytes(part.text);
    case "data":
      return utf8Bytes(jsonText(part.data));
    case "raw":
      return part.bytes.length;
    case "url":
      return utf8Bytes(part.url);
    default:
      return part satisfies never;
  }
}

/** A value as JSON text; one that has none (a cycle, a million levels) is an `encode` error, not a crash. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch (thrown) {
    throw new AgentError("encode", "the value cannot be written as JSON", { cause: thrown });
  }
}

function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit < 0x80) continue;
    // A surrogate pair is two units and four bytes; a lone half is written as a three-byte replacement.
    if (unit >= 0xd800 && unit <= 0xdbff && isLowSurrogate(text.charCodeAt(index + 1))) {
      bytes += 2;
      index++;
    } else bytes += unit < 0x800 ? 1 : 2;
  }
  return bytes;
}

function isLowSurrogate(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
