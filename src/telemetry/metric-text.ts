import type { Edge } from "./edge.js";

/** Label syntax shared by both text formats. */
export function labelText({ srcAgent, dstId, protocol, reason }: Edge): string {
  const why = reason === undefined ? "" : `,reason="${escapeQuoted(reason)}"`;
  return `src_agent="${escapeQuoted(srcAgent)}",dst_id="${escapeQuoted(dstId)}",protocol="${escapeQuoted(protocol)}"${why}`;
}

/** Both formats accept Go's ParseFloat syntax; only infinity is spelled differently. */
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
