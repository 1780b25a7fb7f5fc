import { AgentError } from "./error.js";
import type { Part } from "./part.js";

/** From this size on a part's size is remembered: a gateway asks for it six times per message, and nothing else runs meanwhile. */
const REMEMBERED_BYTES = 4096;
const encoder = new TextEncoder();
/** Parts are never changed, so neither are their sizes. */
const remembered = new WeakMap<Part, number>();

/** The size of a part: UTF-8 bytes of text, of data as JSON, or of the URL; raw bytes as they are. */
export function partBytes(part: Part): number {
  switch (part.kind) {
    case "text":
      return part.text.length < REMEMBERED_BYTES ? utf8Bytes(part.text) : (remembered.get(part) ?? measured(part, part.text));
    case "data":
      return typeof part.data === "object"
        ? (remembered.get(part) ?? measured(part, jsonText(part.data)))
        : utf8Bytes(jsonText(part.data));
    case "raw":
      return part.bytes.length;
    case "url":
      return utf8Bytes(part.url);
    default:
      return part satisfies never;
  }
}

/** The bytes that `partBytes` counts, of a part that has its content. */
export function partContent(part: Exclude<Part, { readonly kind: "url" }>): Uint8Array {
  switch (part.kind) {
    case "text":
      return encoder.encode(part.text);
    case "data":
      return encoder.encode(jsonText(part.data));
    case "raw":
      return part.bytes;
    default:
      return part satisfies never;
  }
}

function measured(part: Part, text: string): number {
  const bytes = utf8Bytes(text);
  if (bytes >= REMEMBERED_BYTES) remembered.set(part, bytes);
  return bytes;
}

/** Serialises a value; one that cannot be (a cycle, extreme nesting) is an `encode` error. */
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
    // A surrogate pair is two units and four bytes; a lone surrogate becomes a three-byte replacement.
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
