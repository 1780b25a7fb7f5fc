/** Control, invisible and bidirectional characters. */
const HIDDEN = /(?![\t\n])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Sanitizes and truncates text of a peer. */
export function plainText(text: string, limit: number): string {
  const shown = text.slice(0, limit * 2).replace(HIDDEN, "");
  return cut(shown.trim(), limit);
}

/** Sanitizes text to one line. */
export function plainLine(text: string, limit: number): string {
  return plainText(text.slice(0, limit * 2).replace(/\s+/g, " "), limit);
}

/** Never splits a surrogate pair: a lone surrogate is not valid in all JSON parsers. */
function cut(text: string, limit: number): string {
  if (text.length <= limit) return text;
  return `${text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
