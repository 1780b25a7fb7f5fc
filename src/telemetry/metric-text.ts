import type { Edge } from "./edge.js";

/** What both text formats write in the same way. */
export function labelText({ srcAgent, dstId, protocol }: Edge): string {
  return `src_agent="${escapeQuoted(srcAgent)}",dst_id="${escapeQuoted(dstId)}",protocol="${escapeQuoted(protocol)}"`;
}

/** The formats take what Go's ParseFloat takes; only infinity is spelled differently. */
export function numberText(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value);
}

export function escapeLine(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

export function escapeQuoted(text: string): string {
  return escapeLine(text).replaceAll('"', '\\"');
}
